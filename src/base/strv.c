/* SPDX-License-Identifier: MIT */
#include "base/strv.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { CAP_MIN = 8 };

/* What one string of len bytes counts. */
static size_t cost(size_t len)
{
    return len + 1 + sizeof(char *);
}

static bool fits(const struct strv *v, size_t len)
{
    size_t left = v->max - v->bytes;
    return len < left && cost(len) <= left;
}

/* Adds a string that has been checked; takes it over. */
static void push_take(struct strv *v, char *text, size_t len)
{
    if (v->n + 1 >= v->cap) {
        v->cap = v->cap < CAP_MIN ? CAP_MIN : 2 * v->cap;
        v->items = xreallocarray(v->items, v->cap, sizeof(*v->items));
    }
    v->items[v->n++] = text;
    v->items[v->n] = NULL;
    v->bytes += cost(len);
}

void strv_init(struct strv *v, size_t max)
{
    *v = (struct strv)STRV_INIT(max);
}

int strv_push_n(struct strv *v, const char *text, size_t len)
{
    if (len && memchr(text, '\0', len))
        return -ERR_INVALID;
    if (!fits(v, len))
        return -ERR_LIMIT;
    push_take(v, xmemdup(text, len), len);
    return 0;
}

int strv_push(struct strv *v, const char *text)
{
    return strv_push_n(v, text, strlen(text));
}

int strv_pushf(struct strv *v, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0)
        return -ERR_INVALID;
    if (!fits(v, (size_t)len))
        return -ERR_LIMIT;

    va_start(args, fmt);
    char *text = xvasprintf(fmt, args);
    va_end(args);
    push_take(v, text, strlen(text)); /* not len: a %c of 0 ends the string */
    return 0;
}

int strv_push_all(struct strv *v, const char *const *items)
{
    size_t before = v->n;
    for (size_t i = 0; items[i]; i++) {
        int rc = strv_push(v, items[i]);
        if (rc < 0) {
            while (v->n > before)
                strv_remove(v, v->n - 1);
            return rc;
        }
    }
    return 0;
}

void strv_remove(struct strv *v, size_t i)
{
    assert(i < v->n);
    v->bytes -= cost(strlen(v->items[i]));
    free(v->items[i]);
    memmove(&v->items[i], &v->items[i + 1], (v->n - i) * sizeof(*v->items));
    v->n--;
}

char **strv_items(const struct strv *v)
{
    static char *none[] = {NULL};
    return v->items ? v->items : none;
}

bool strv_has(const struct strv *v, const char *text)
{
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->items[i], text) == 0)
            return true;
    return false;
}

bool env_key_is_valid(const char *key)
{
    if (*key == '\0')
        return false;
    for (; *key; key++)
        if (*key == '=' || (unsigned char)*key < ' ' || *key == 0x7f)
            return false;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool env_name_is_valid(const char *name)
{
    if (!is_letter(*name))
        return false;
    for (; *name; name++)
        if (!is_letter(*name) && !(*name >= '0' && *name <= '9'))
            return false;
    return true;
}

/* The value part if item sets the variable, else NULL. */
static const char *value_of(const char *item, const char *name, size_t len)
{
    return strncmp(item, name, len) == 0 && item[len] == '=' ? item + len + 1 : NULL;
}

/* The first item, from number i on, that sets the variable; v->n if none does. */
static size_t find_env(const struct strv *v, const char *name, size_t i)
{
    size_t len = strlen(name);
    while (i < v->n && !value_of(v->items[i], name, len))
        i++;
    return i;
}

int strv_set_env(struct strv *v, const char *name, const char *value)
{
    if (!env_key_is_valid(name))
        return -ERR_INVALID;
    size_t i = find_env(v, name, 0);
    if (i == v->n)
        return strv_pushf(v, "%s=%s", name, value);

    size_t old_len = strlen(v->items[i]);
    size_t len = strlen(name) + 1 + strlen(value);
    if (len > old_len && len - old_len > v->max - v->bytes)
        return -ERR_LIMIT;
    char *item = xasprintf("%s=%s", name, value);
    free(v->items[i]);
    v->items[i] = item;
    v->bytes = v->bytes - old_len + len;

    while ((i = find_env(v, name, i + 1)) < v->n) /* a second one would come back after unset */
        strv_remove(v, i--);
    return 0;
}

const char *strv_get_env(const struct strv *v, const char *name)
{
    size_t i = find_env(v, name, 0);
    return i < v->n ? value_of(v->items[i], name, strlen(name)) : NULL;
}

bool strv_unset_env(struct strv *v, const char *name)
{
    size_t before = v->n;
    for (size_t i = find_env(v, name, 0); i < v->n; i = find_env(v, name, i))
        strv_remove(v, i);
    return v->n < before;
}

void strv_clear(struct strv *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->items[i]);
    if (v->items)
        v->items[0] = NULL;
    v->n = v->bytes = 0;
}

void strv_done(struct strv *v)
{
    if (!v)
        return;
    strv_clear(v);
    free(v->items);
    strv_init(v, v->max);
}
