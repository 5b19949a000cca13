/* SPDX-License-Identifier: MIT */
/*
 * base/own - variables that release what they own at the end of their scope.
 *
 *     auto_free char *text = NULL;
 *     auto_close int fd = -1;
 *     ...
 *     return take_ptr(text);
 *
 * A type joins by one line beside its destructor, which must accept NULL (or a
 * zeroed object):
 *
 *     DEFINE_AUTO(struct audit_log *, audit_log_free)       a heap object
 *     DEFINE_AUTO_DONE(struct buf, buf_done)                an object in place
 *
 * and is then declared with AUTO(audit_log_free) struct audit_log *log = NULL.
 */
#ifndef BASE_OWN_H
#define BASE_OWN_H

#include <stddef.h>

#define AUTO(fn) __attribute__((cleanup(fn##_auto)))

#define DEFINE_AUTO(type, fn)                                                                      \
    __attribute__((unused)) static inline void fn##_auto(__typeof__(type) *p)                      \
    {                                                                                              \
        fn(*p);                                                                                    \
    }

#define DEFINE_AUTO_DONE(type, fn)                                                                 \
    __attribute__((unused)) static inline void fn##_auto(__typeof__(type) *p)                      \
    {                                                                                              \
        fn(p);                                                                                     \
    }

#define auto_free  __attribute__((cleanup(own_free)))
#define auto_close __attribute__((cleanup(own_close)))

/* Moves the pointer out of the variable p, which becomes NULL. */
#define take_ptr(p)                                                                                \
    (__extension__({                                                                               \
        __typeof__(p) *own_from_ = &(p);                                                           \
        __typeof__(p) own_value_ = *own_from_;                                                     \
        *own_from_ = NULL;                                                                         \
        own_value_;                                                                                \
    }))

/* Moves the descriptor out of *fd, which becomes -1. */
static inline int take_fd(int *fd)
{
    int value = *fd;
    *fd = -1;
    return value;
}

/* free(*(void **)p); errno is left alone. */
void own_free(void *p);

/* Closes *fd unless it is negative; errno is left alone. */
void own_close(const int *fd);

/* Closes *fd unless it is negative and sets it to -1. */
void own_close_fd(int *fd);

#endif
