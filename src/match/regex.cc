/* SPDX-License-Identifier: MIT */
#include <cerrno>
#include <new>
#include <re2/re2.h>
#include <string>

extern "C" {
#include "base/err.h"
#include "match/regex.h"
}

struct regex {
    RE2 re;

    regex(const std::string &pattern, const RE2::Options &options) : re(pattern, options)
    {
    }
};

static RE2::Options options_from_flags(unsigned flags)
{
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(REGEX_MEMORY_MAX);
    options.set_case_sensitive(!(flags & REGEX_ICASE));
    options.set_literal(flags & REGEX_LITERAL);
    options.set_longest_match(flags & REGEX_LONGEST);
    options.set_dot_nl(flags & REGEX_DOTALL);
    if (flags & REGEX_BYTES)
        options.set_encoding(RE2::Options::EncodingLatin1);
    return options;
}

/* The call may throw; its callers do not let that pass. */
static int compile(const char *pattern, unsigned flags, struct regex **ret, struct err *err)
{
    std::string text(pattern);
    if (text.size() > REGEX_PATTERN_MAX)
        return err_set(err, ERR_LIMIT, "the regular expression has %zu bytes, at most %d are read",
                       text.size(), REGEX_PATTERN_MAX);
    if ((flags & REGEX_MULTILINE) && !(flags & REGEX_LITERAL))
        text.insert(0, "(?m)");

    struct regex *re = new regex(text, options_from_flags(flags));
    if (re->re.ok()) {
        *ret = re;
        return 0;
    }
    int rc;
    if (re->re.error_code() == RE2::ErrorPatternTooLarge)
        rc = err_set(err, ERR_LIMIT, "the regular expression '%.200s' is too large", pattern);
    else
        rc = err_set(err, ERR_SYNTAX, "regular expression '%.200s': %.200s", pattern,
                     re->re.error().c_str());
    delete re;
    return rc;
}

static int search_in(const struct regex *re, re2::StringPiece text, struct regex_span within,
                     struct regex_span *spans, size_t n_spans)
{
    re2::StringPiece found[REGEX_GROUPS_MAX + 1];
    if (n_spans > REGEX_GROUPS_MAX + 1)
        n_spans = REGEX_GROUPS_MAX + 1;
    if (!re->re.Match(text, within.start, within.end, RE2::UNANCHORED, found, (int)n_spans))
        return 0;
    for (size_t i = 0; i < n_spans; i++) {
        spans[i] = {REGEX_UNSET, REGEX_UNSET};
        if (found[i].data()) {
            spans[i].start = (size_t)(found[i].data() - text.data());
            spans[i].end = spans[i].start + found[i].size();
        }
    }
    return 1;
}

extern "C" int regex_compile(const char *pattern, unsigned flags, struct regex **ret,
                             struct err *err)
{
    try {
        return compile(pattern, flags, ret, err);
    } catch (...) { /* std::bad_alloc: RE2 throws nothing of its own */
        return err_set(err, ENOMEM, "compile the regular expression '%.200s'", pattern);
    }
}

extern "C" unsigned regex_groups(const struct regex *re)
{
    return (unsigned)re->re.NumberOfCapturingGroups();
}

extern "C" unsigned regex_size(const struct regex *re)
{
    return (unsigned)re->re.ProgramSize();
}

extern "C" int regex_search_in(const struct regex *re, const char *text, size_t len,
                               struct regex_span within, struct regex_span *spans, size_t n_spans)
{
    if (within.start > within.end || within.end > len)
        return 0;
    try {
        return search_in(re, re2::StringPiece(text ? text : "", len), within, spans, n_spans);
    } catch (...) {
        return -ENOMEM;
    }
}

extern "C" int regex_search(const struct regex *re, const char *text, size_t len, size_t *ret_start,
                            size_t *ret_end)
{
    struct regex_span span = {0, 0};
    size_t n_spans = ret_start || ret_end; /* without places RE2 is faster */
    int rc = regex_search_in(re, text, len, {0, len}, &span, n_spans);
    if (rc == 1 && ret_start)
        *ret_start = span.start;
    if (rc == 1 && ret_end)
        *ret_end = span.end;
    return rc;
}

extern "C" void regex_free(struct regex *re)
{
    delete re;
}
