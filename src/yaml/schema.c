/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "yaml/schema_priv.h"

#define DIGITS "0123456789"

static const struct {
    const char *text;
    enum yaml_type type;
} words[] = {
    {"",      YAML_NULL },
    {"~",     YAML_NULL },
    {"null",  YAML_NULL },
    {"Null",  YAML_NULL },
    {"NULL",  YAML_NULL },
    {"true",  YAML_BOOL },
    {"True",  YAML_BOOL },
    {"TRUE",  YAML_BOOL },
    {"false", YAML_BOOL },
    {"False", YAML_BOOL },
    {"FALSE", YAML_BOOL },
    {".inf",  YAML_FLOAT},
    {".Inf",  YAML_FLOAT},
    {".INF",  YAML_FLOAT},
    {"-.inf", YAML_FLOAT},
    {"-.Inf", YAML_FLOAT},
    {"-.INF", YAML_FLOAT},
    {"+.inf", YAML_FLOAT},
    {"+.Inf", YAML_FLOAT},
    {"+.INF", YAML_FLOAT},
    {".nan",  YAML_FLOAT},
    {".NaN",  YAML_FLOAT},
    {".NAN",  YAML_FLOAT},
};

/* Digits of that base behind a prefix of two letters, up to the end. */
static bool is_based(const char *text, const char *prefix, const char *digits)
{
    return strncmp(text, prefix, 2) == 0 && text[2] && text[2 + strspn(text + 2, digits)] == '\0';
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static enum yaml_type resolve_decimal(const char *text)
{
    text += *text == '-' || *text == '+';
    size_t whole = strspn(text, DIGITS);
    text += whole;
    if (*text == '\0')
        return whole ? YAML_INT : YAML_STRING;
    if (*text == '.') {
        size_t fraction = strspn(++text, DIGITS);
        text += fraction;
        whole += fraction;
    }
    if (whole && (*text == 'e' || *text == 'E')) {
        text++;
        text += *text == '-' || *text == '+';
        size_t exponent = strspn(text, DIGITS);
        text += exponent;
        whole = exponent;
    }
    return whole && *text == '\0' ? YAML_FLOAT : YAML_STRING;
}

enum yaml_type yaml_schema_resolve(const char *text, size_t len)
{
    if (strlen(text) != len)
        return YAML_STRING;
    for (size_t i = 0; len <= 5 && i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].text, text) == 0)
            return words[i].type;
    if (is_based(text, "0x", DIGITS "abcdefABCDEF") || is_based(text, "0o", "01234567"))
        return YAML_INT;
    return resolve_decimal(text);
}

enum yaml_type yaml_schema_tag_type(const char *tag)
{
    static const char core[] = "tag:yaml.org,2002:";
    static const struct {
        const char *name;
        enum yaml_type type;
    } names[] = {
        {"null",  YAML_NULL  },
        {"bool",  YAML_BOOL  },
        {"int",   YAML_INT   },
        {"float", YAML_FLOAT },
        {"str",   YAML_STRING},
        {"seq",   YAML_LIST  },
        {"map",   YAML_MAP   },
    };
    if (strcmp(tag, "!") == 0)
        return YAML_STRING;
    if (strncmp(tag, core, sizeof(core) - 1) != 0)
        return YAML_NONE;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].name, tag + sizeof(core) - 1) == 0)
            return names[i].type;
    return YAML_NONE;
}

bool yaml_schema_tag_fits(enum yaml_type tagged, enum yaml_type resolved)
{
    return tagged == resolved || tagged == YAML_STRING ||
           (tagged == YAML_FLOAT && resolved == YAML_INT);
}

static bool is_prefixed(const char *text)
{
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'o');
}

bool yaml_schema_int(const char *text, bool *ret_negative, uint64_t *ret)
{
    bool prefixed = is_prefixed(text);
    int base = !prefixed ? 10 : text[1] == 'x' ? 16 : 8;
    bool negative = *text == '-';
    if (prefixed)
        text += 2;
    else
        text += *text == '-' || *text == '+';
    errno = 0;
    unsigned long long value = strtoull(text, NULL, base);
    if (errno == ERANGE)
        return false;
    *ret_negative = negative;
    *ret = value;
    return true;
}

/* Of 0x and 0o numbers of any length. */
static double based_double(const char *text)
{
    double value = 0, base = text[1] == 'x' ? 16 : 8;
    for (text += 2; *text; text++) {
        int digit = *text <= '9' ? *text - '0' : (*text | 0x20) - 'a' + 10;
        value = value * base + digit;
    }
    return value;
}

double yaml_schema_double(const char *text)
{
    bool negative = *text == '-';
    const char *digits = text + (*text == '-' || *text == '+');
    if (digits[0] == '.' && (digits[1] | 0x20) == 'i')
        return negative ? -INFINITY : INFINITY;
    if (digits[0] == '.' && (digits[1] | 0x20) == 'n')
        return NAN;
    if (is_prefixed(text))
        return based_double(text);
    /* strtod() would want the decimal point of the program's locale. */
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = strtod_l(text, NULL, c);
    freelocale(c);
    return value;
}

bool yaml_schema_bool(const char *text)
{
    return (*text | 0x20) == 't';
}
