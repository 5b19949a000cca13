/* SPDX-License-Identifier: MIT */
#include "yaml/read.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

#include "base/err.h"
#include "base/own.h"
#include "base/utf8.h"
#include "yaml/compose_priv.h"

enum { BYTES_MAX = 1 << 30, TAG_DIRECTIVES_MAX = 16 };

DEFINE_AUTO_DONE(yaml_parser_t, yaml_parser_delete)
DEFINE_AUTO_DONE(yaml_event_t, yaml_event_delete)
DEFINE_AUTO_DONE(struct composer, compose_done)

/* --- errors ------------------------------------------------------------------------- */

/* Where the byte at this offset stands. */
static struct yaml_mark mark_at(const struct yaml_input *input, size_t offset)
{
    struct yaml_mark mark = {1, 1};
    size_t line = 0;
    for (size_t i = 0; i < offset && i < input->len; i++)
        if (input->text[i] == '\n') {
            mark.line++;
            line = i + 1;
        }
    mark.column = (uint32_t)utf8_count(input->text + line, offset - line) + 1;
    return mark;
}

/* What libyaml says, and what it means to somebody who writes a file. */
static const struct {
    const char *problem, *text;
} meanings[] = {
    {"mapping values are not allowed in this context",
     "a ':' in the middle of a value, expected the value in quotes or the key on a line of its "
     "own"                                                                                                                    },
    {"block sequence entries are not allowed in this context",
     "a '-' in the middle of a line, expected list items on lines of their own"                                               },
    {"found character that cannot start any token",
     "a character that no value starts with, expected it in quotes, and blanks, not tabs, before "
     "it"                                                                                                                     },
    {"found a tab character that violates indentation",
     "a tab in the indentation, expected blanks"                                                                              },
    {"found a tab character where an indentation space is expected",
     "a tab in the indentation, expected blanks"                                                                              },
    {"did not find expected key",                                    "expected 'key: value', indented as the keys before it"  },
    {"did not find expected '-' indicator",                          "expected '- item', indented as the items before it"     },
    {"could not find expected ':'",                                  "a key without a value, expected ':' behind it"          },
    {"did not find expected ',' or ']'",                             "the list is not complete, expected ',' or ']'"          },
    {"did not find expected ',' or '}'",                             "the map is not complete, expected ',' or '}'"           },
    {"did not find expected node content",                           "nothing, or a stray sign, expected a value"             },
    {"did not find expected <document start>",
     "more text after the end of the document, expected nothing (or '---')"                                                   },
    {"found unexpected end of stream",                               "the text ends within quotes, expected the closing one"  },
    {"found unexpected document indicator",
     "the document ends within quotes, expected the closing one"                                                              },
    {"found unknown escape character",
     "an unknown escape, expected one of YAML's, or single quotes around the text"                                            },
    {"found incompatible YAML document",                             "a version of YAML that is not known, expected 1.2"      },
    {"found undefined tag handle",                                   "an unknown tag, expected a core one (!!str, !!int, ...)"},
};

static const char *meaning_of(const char *problem)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
        if (strcmp(meanings[i].problem, problem) == 0)
            return meanings[i].text;
    return problem;
}

/* "while parsing a block mapping" -> "block mapping". */
static const char *context_of(const char *context)
{
    static const char *const starts[] = {"while parsing a ", "while scanning a ",
                                         "while parsing an ", "while scanning an "};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (strncmp(context, starts[i], strlen(starts[i])) == 0)
            return context + strlen(starts[i]);
    return context;
}

static int fail_parser(const struct yaml_input *input, const yaml_parser_t *p, struct err *err)
{
    if (p->error == YAML_MEMORY_ERROR || !p->problem)
        return err_set(err, ENOMEM, "read '%s'", input->name);
    if (p->error == YAML_READER_ERROR)
        return yaml_err(err, ERR_SYNTAX, input->name, mark_at(input, p->problem_offset),
                        "the character U+%04X, expected it as an escape in double quotes",
                        (unsigned)p->problem_value);
    struct yaml_mark mark = {(uint32_t)p->problem_mark.line + 1,
                             (uint32_t)p->problem_mark.column + 1};
    size_t line = p->context_mark.line + 1;
    if (p->context && line != mark.line)
        return yaml_err(err, ERR_SYNTAX, input->name, mark, "%s (in the %s of line %zu)",
                        meaning_of(p->problem), context_of(p->context), line);
    return yaml_err(err, ERR_SYNTAX, input->name, mark, "%s", meaning_of(p->problem));
}

/* --- what libyaml does not look at --------------------------------------------------- */

/*
 * libyaml compares each %TAG with all before it. Some may be there, a text full of them may
 * not; inside a value a line that starts so is hardly ever meant.
 */
static bool has_many_tag_directives(const struct yaml_input *input)
{
    size_t n = 0;
    const char *end = input->text + input->len;
    for (const char *line = input->text; line && line < end; line++) {
        n += *line == '%';
        if (n > TAG_DIRECTIVES_MAX)
            return true;
        line = memchr(line, '\n', (size_t)(end - line));
        if (!line)
            break;
    }
    return false;
}

static int check_input(const struct yaml_input *input, size_t max_bytes, struct err *err)
{
    if (input->len > max_bytes)
        return err_set(err, ERR_LIMIT, "%s: %zu bytes, expected at most %zu", input->name,
                       input->len, max_bytes);
    size_t valid = utf8_valid_prefix(input->text, input->len);
    if (valid < input->len)
        return yaml_err(err, ERR_SYNTAX, input->name, mark_at(input, valid),
                        "bytes that are no UTF-8, expected nothing else");
    if (has_many_tag_directives(input))
        return err_set(err, ERR_LIMIT, "%s: more than %d directives ('%%' at the start of a line)",
                       input->name, TAG_DIRECTIVES_MAX);
    return 0;
}

/* --- reading ------------------------------------------------------------------------ */

static int parse_events(const struct yaml_input *input, struct composer *c)
{
    AUTO(yaml_parser_delete) yaml_parser_t parser = {0};
    if (!yaml_parser_initialize(&parser))
        return err_set(c->err, ENOMEM, "read '%s'", input->name);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)input->text, input->len);

    for (bool done = false; !done;) {
        AUTO(yaml_event_delete) yaml_event_t event = {0};
        if (!yaml_parser_parse(&parser, &event))
            return fail_parser(input, &parser, c->err);
        int rc = compose_event(c, &event);
        if (rc < 0)
            return rc;
        done = event.type == YAML_STREAM_END_EVENT;
    }
    return 0;
}

static size_t limit_or(size_t limit, size_t normal, size_t max)
{
    if (limit == 0)
        return normal;
    return limit < max ? limit : max;
}

static int parse(struct yaml_input input, const struct yaml_limits *limits, struct composer *c,
                 struct yaml_node **ret)
{
    static const struct yaml_limits none = {0};
    if (!limits)
        limits = &none;
    c->name = input.name;
    c->max_depth = (unsigned)limit_or(limits->max_depth, YAML_DEPTH_MAX, YAML_DEPTH_MAX);
    c->max_nodes = limit_or(limits->max_nodes, YAML_NODES_DEFAULT, UINT32_MAX);
    map_init(&c->anchors, c->max_nodes);

    int rc =
        check_input(&input, limit_or(limits->max_bytes, YAML_BYTES_DEFAULT, BYTES_MAX), c->err);
    if (rc < 0)
        return rc;
    /* A byte order mark may stand at the start. */
    if (input.len >= 3 && memcmp(input.text, "\xef\xbb\xbf", 3) == 0) {
        input.text += 3;
        input.len -= 3;
    }
    rc = parse_events(&input, c);
    return rc < 0 ? rc : compose_end(c, ret);
}

int yaml_parse(const struct yaml_input *input, const struct yaml_limits *limits,
               struct arena *arena, struct yaml_node **ret, struct err *err)
{
    AUTO(compose_done) struct composer c = {.arena = arena, .err = err, .one = true};
    return parse(*input, limits, &c, ret);
}

int yaml_parse_all(const struct yaml_input *input, const struct yaml_limits *limits,
                   struct arena *arena, struct yaml_node **ret, struct err *err)
{
    AUTO(compose_done) struct composer c = {.arena = arena, .err = err, .one = false};
    return parse(*input, limits, &c, ret);
}
