/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "nacre/priv.h"

void nacre_init(struct nacre *n, const struct nacre_ops *ops)
{
    n->ops = ops;
    n->refs = 1;
    list_init(&n->commands);
}

struct nacre *nacre_ref(struct nacre *n)
{
    n->refs++;
    return n;
}

void nacre_unref(struct nacre *n)
{
    if (!n)
        return;
    assert(n->refs > 0);
    if (--n->refs == 0)
        free(n);
}

int nacre_check(const struct nacre *n, bool waits, struct err *err)
{
    if (!n->ops)
        return err_set(err, ERR_CLOSED, "the runtime was closed by nacre_close()");
    if (waits && n->in_turn)
        return err_set(err, ERR_BUSY, "a callback must not make a call that waits");
    return 0;
}

int nacre_take_options(const void *theirs, void *ours, size_t size, struct err *err)
{
    size_t their_size = 0;
    if (!theirs)
        return 0;
    memcpy(&their_size, theirs, sizeof(their_size));
    if (their_size < sizeof(their_size))
        return err_set(err, ERR_INVALID, "options: the field 'size' is not set");

    const char *bytes = theirs;
    for (size_t i = size; i < their_size; i++)
        if (bytes[i])
            return err_set(err, ERR_UNSUPPORTED,
                           "options: the program sets a field that this library (%s) does not have",
                           NACRE_VERSION);
    memcpy(ours, theirs, their_size < size ? their_size : size);
    return 0;
}

const char *nacre_version(void)
{
    return NACRE_VERSION;
}

void nacre_free(void *text)
{
    free(text);
}

void nacre_close(struct nacre *nacre)
{
    if (!nacre)
        return;
    assert(!nacre->in_turn); /* a callback must not pull the runtime from under its caller */
    if (nacre->ops)
        nacre->ops->close(nacre);
    nacre->ops = NULL;
    LIST_FOREACH(link, &nacre->commands)
    list_entry(link, struct nacre_command, link)->attached = false;
    nacre_unref(nacre);
}

int nacre_poll_fd(const struct nacre *nacre)
{
    return nacre->ops ? nacre->ops->poll_fd(nacre) : -1;
}

int nacre_poll_timeout(const struct nacre *nacre)
{
    return nacre->ops ? nacre->ops->poll_timeout(nacre) : -1;
}

int nacre_dispatch(struct nacre *nacre, struct nacre_error **ret_error)
{
    struct err err = {0};
    int rc = nacre_check(nacre, true, &err);
    if (rc == 0)
        rc = nacre->ops->dispatch(nacre, &err);
    return nacre_error_give(rc, &err, ret_error);
}
