/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "lib/test.h"

TEST(set_adds_the_errno_text)
{
    struct err err = {0};
    CHECK_INT(err_set(&err, ENOENT, "open '%s'", "/x"), -ENOENT);
    CHECK_INT(err.code, ENOENT);
    CHECK_STR(err.text, "open '/x': No such file or directory");
}

TEST(set_adds_nothing_to_own_codes)
{
    struct err err = {0};
    CHECK_INT(err_set(&err, ERR_DENIED, "no %d", 7), -ERR_DENIED);
    CHECK_STR(err.text, "no 7");
}

TEST(set_again_replaces)
{
    struct err err = {0};
    (void)err_set(&err, ERR_DENIED, "first");
    (void)err_set(&err, ERR_LIMIT, "second");
    CHECK_INT(err.code, ERR_LIMIT);
    CHECK_STR(err.text, "second");
}

TEST(own_text_may_be_an_argument)
{
    struct err err = {0};
    (void)err_set(&err, ERR_DENIED, "why");
    (void)err_set(&err, ERR_LIMIT, "<%s>", err.text);
    CHECK_STR(err.text, "<why>");
    (void)err_wrap(&err, -ERR_LIMIT, "%s", err.text);
    CHECK_STR(err.text, "<why>: <why>");
}

TEST(null_is_accepted)
{
    CHECK_INT(err_set(NULL, EPERM, "x"), -EPERM);
    CHECK_INT(err_wrap(NULL, -ERR_BUSY, "x"), -ERR_BUSY);
    err_clear(NULL);
}

TEST(wrap_goes_before_and_keeps_the_code)
{
    struct err err = {0};
    int rc = err_set(&err, EACCES, "open '%s'", "f");
    CHECK_INT(err_wrap(&err, rc, "load '%s'", "w"), -EACCES);
    CHECK_INT(err.code, EACCES);
    CHECK_STR(err.text, "load 'w': open 'f': Permission denied");
}

TEST(wrap_of_nothing_describes_the_code)
{
    struct err err = {0};
    CHECK_INT(err_wrap(&err, -ERR_TIMEOUT, "wait"), -ERR_TIMEOUT);
    CHECK_STR(err.text, "wait: timed out");
    err_clear(&err);
    CHECK_INT(err.code, 0);
    CHECK_STR(err.text, "");
    (void)err_wrap(&err, -EPERM, "chown");
    CHECK_STR(err.text, "chown: Operation not permitted");
}

TEST(long_text_is_cut_and_the_reason_kept)
{
    char path[2000];
    memset(path, 'p', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    struct err err = {0};
    (void)err_set(&err, ENOENT, "open '%s'", path);
    CHECK_INT(strlen(err.text), ERR_TEXT_SIZE - 1);
    CHECK(strstr(err.text, "ppp...: No such file or directory") != NULL);

    (void)err_wrap(&err, -ENOENT, "%s", path);
    CHECK_INT(strlen(err.text), ERR_TEXT_SIZE - 1);
    CHECK(strstr(err.text, "ppp...: open 'ppp") != NULL);
    CHECK(strcmp(err.text + strlen(err.text) - 3, "...") == 0);
}

TEST(cut_falls_on_a_character)
{
    char text[1201] = "";
    for (int i = 0; i < 300; i++)
        memcpy(text + (ptrdiff_t)i * 4, "\xF0\x9F\x90\x9A", 5);
    for (int shift = 0; shift < 4; shift++) {
        struct err err = {0};
        (void)err_set(&err, ERR_LIMIT, "%.*s%s", shift, "xxx", text);
        CHECK(utf8_is_valid(err.text, strlen(err.text)));
        CHECK(!strchr(err.text, '?'));
        CHECK(strlen(err.text) > ERR_TEXT_SIZE - 6);
    }
}

TEST(invalid_bytes_become_question_marks)
{
    struct err err = {0};
    (void)err_set(&err, ERR_INVALID, "name '%s'", "a\xff\xfe\xc3z\xc3");
    CHECK_STR(err.text, "name 'a???z?'");
}

TEST(names_go_both_ways)
{
    for (int code = ERR_SYNTAX; code < ERR_CODE_END; code++) {
        CHECK(strlen(err_name(code)) > 3);
        CHECK(strlen(err_describe(code)) > 3);
        CHECK_INT(err_from_name(err_name(code)), code);
        CHECK_STR(err_name(-code), err_name(code));
    }
    CHECK_STR(err_name(ERR_INVALID), "invalid_argument");
    CHECK_STR(err_name(ERR_LIMIT), "limit_exceeded");
    CHECK_STR(err_name(ERR_NOT_FOUND), "not_found");
    CHECK_STR(err_name(ERR_LOST), "session_lost");
    CHECK_STR(err_name(ERR_STORAGE), "storage_error");
}

TEST(what_has_no_name_is_internal)
{
    CHECK_STR(err_name(ENOENT), "internal");
    CHECK_STR(err_name(0), "internal");
    CHECK_STR(err_name(ERR_CODE_END), "internal");
    CHECK_INT(err_from_name("internal"), ERR_INTERNAL);
    CHECK_INT(err_from_name("no such name"), 0);
    CHECK_INT(err_from_name(""), 0);
    CHECK_STR(err_describe(99999), "unknown error");
    CHECK_STR(err_describe(-ENOENT), "No such file or directory");
}
