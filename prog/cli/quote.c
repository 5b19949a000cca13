/* SPDX-License-Identifier: MIT */
#include "cli/quote.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

/* '~' is not plain: bash expands it behind a '=' as well. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_-+./,:@%^=";

static int quote_word(const char *word, bool always, struct buf *out)
{
    if (!always && *word && !word[strspn(word, plain)])
        return buf_append_str(out, word);
    int rc = buf_append_byte(out, '\'');
    while (rc == 0 && *word) {
        size_t len = strcspn(word, "'");
        rc = buf_append(out, word, len);
        word += len;
        if (rc == 0 && *word) {
            rc = buf_append_str(out, "'\\''");
            word++;
        }
    }
    return rc < 0 ? rc : buf_append_byte(out, '\'');
}

int cli_quote_words(const char *const *words, size_t n, struct buf *out)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (i)
            rc = buf_append_byte(out, ' ');
        /* A quoted word is no alias, no reserved word such as "if", no assignment. */
        if (rc == 0)
            rc = quote_word(words[i], i == 0, out);
    }
    return rc;
}
