/* SPDX-License-Identifier: MIT */
/*
 * base/list - doubly linked list through a member of the linked object.
 *
 * struct list is both the head and the link. A head is made with list_init(); a
 * link needs nothing before it is added, but list_init() makes list_remove() and
 * list_is_linked() safe to call on it at any time.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *prev, *next;
};

/* clang-format off */
#define LIST_INIT(head) {&(head), &(head)}
/* clang-format on */

/* The object of this type whose member is the link. */
#define list_entry(link, type, member)                                                             \
    ((__typeof__(type) *)(void *)((char *)(link)-offsetof(type, member)))

/* First and last object, or NULL if the list is empty. */
#define list_first(head, type, member)                                                             \
    (list_empty(head) ? NULL : list_entry((head)->next, type, member))
#define list_last(head, type, member)                                                              \
    (list_empty(head) ? NULL : list_entry((head)->prev, type, member))

/*
 * Walks the links of head; the body may remove (and free) the current one.
 *
 *     LIST_FOREACH (link, &jobs) {
 *         struct job *job = list_entry(link, struct job, link);
 */
/* NOLINTBEGIN(bugprone-macro-parentheses): declares what its argument names */
#define LIST_FOREACH(link, head)                                                                   \
    for (struct list *link = (head)->next, *link##_next_ = link->next; link != (head);             \
         link = link##_next_, link##_next_ = link->next)
/* NOLINTEND(bugprone-macro-parentheses) */

static inline void list_init(struct list *head)
{
    head->prev = head->next = head;
}

static inline void list_insert(struct list *prev, struct list *link)
{
    link->prev = prev;
    link->next = prev->next;
    prev->next->prev = link;
    prev->next = link;
}

static inline void list_add_head(struct list *head, struct list *link)
{
    list_insert(head, link);
}

static inline void list_add_tail(struct list *head, struct list *link)
{
    list_insert(head->prev, link);
}

/* Unlinks; a link that is in no list (but initialised or zeroed) is left alone. */
static inline void list_remove(struct list *link)
{
    if (!link->next)
        return;
    link->prev->next = link->next;
    link->next->prev = link->prev;
    list_init(link);
}

static inline bool list_empty(const struct list *head)
{
    return head->next == head;
}

/* Whether the link is in a list; it must have been initialised or zeroed once. */
static inline bool list_is_linked(const struct list *link)
{
    return link->next && link->next != link;
}

/* Number of links; walks the list. */
static inline size_t list_count(const struct list *head)
{
    size_t n = 0;
    for (const struct list *link = head->next; link != head; link = link->next)
        n++;
    return n;
}

#endif
