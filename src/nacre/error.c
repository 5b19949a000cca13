/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "nacre/priv.h"

struct nacre_error {
    struct err err;
};

/* The codes are the same numbers on both sides. */
_Static_assert((int)NACRE_ERR_SYNTAX == (int)ERR_SYNTAX, "first code");
_Static_assert((int)NACRE_ERR_TIMEOUT == (int)ERR_TIMEOUT, "order of codes");
_Static_assert((int)NACRE_ERR_EXITED == (int)ERR_EXITED, "order of codes");
_Static_assert((int)NACRE_ERR_INTERNAL == (int)ERR_INTERNAL, "last code");
_Static_assert((int)ERR_CODE_END == (int)ERR_INTERNAL + 1, "a code that the header lacks");

int nacre_error_give(int rc, const struct err *err, struct nacre_error **ret_error)
{
    if (rc >= 0 || !ret_error)
        return rc;
    struct nacre_error *error = xnew(struct nacre_error);
    if (err->code)
        error->err = *err;
    else
        (void)err_set(&error->err, -rc, "%s", -rc < ERR_SYNTAX ? "system" : err_describe(rc));
    *ret_error = error;
    return rc;
}

int nacre_error_code(const struct nacre_error *error)
{
    return error ? error->err.code : 0;
}

const char *nacre_error_name(const struct nacre_error *error)
{
    return error ? err_name(error->err.code) : "none";
}

const char *nacre_error_message(const struct nacre_error *error)
{
    return error ? error->err.text : "no error";
}

void nacre_error_free(struct nacre_error *error)
{
    free(error);
}
