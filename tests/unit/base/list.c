/* SPDX-License-Identifier: MIT */
#include "base/list.h"

#include <stdlib.h>

#include "base/mem.h"
#include "lib/test.h"

struct item {
    int number;
    struct list link;
};

static int digits(const struct list *head)
{
    int value = 0;
    LIST_FOREACH(link, head)
    value = value * 10 + list_entry(link, struct item, link)->number;
    return value;
}

TEST(add_at_both_ends)
{
    struct list head = LIST_INIT(head);
    struct item a = {.number = 1}, b = {.number = 2}, c = {.number = 3};
    CHECK(list_empty(&head));
    CHECK(list_first(&head, struct item, link) == NULL);
    CHECK(list_last(&head, struct item, link) == NULL);
    list_add_tail(&head, &b.link);
    list_add_tail(&head, &c.link);
    list_add_head(&head, &a.link);
    CHECK_INT(digits(&head), 123);
    CHECK_INT(list_count(&head), 3);
    CHECK(!list_empty(&head));
    CHECK(list_first(&head, struct item, link) == &a);
    CHECK(list_last(&head, struct item, link) == &c);
}

TEST(insert_behind_one)
{
    struct list head;
    list_init(&head);
    struct item a = {.number = 1}, b = {.number = 2}, c = {.number = 3};
    list_add_tail(&head, &a.link);
    list_add_tail(&head, &c.link);
    list_insert(&a.link, &b.link);
    CHECK_INT(digits(&head), 123);
}

TEST(remove_twice_and_never_added)
{
    struct list head = LIST_INIT(head);
    struct item a = {.number = 1}, zeroed = {.number = 2}, b = {.number = 3};
    list_init(&b.link);
    CHECK(!list_is_linked(&zeroed.link) && !list_is_linked(&b.link));
    list_add_tail(&head, &a.link);
    list_add_tail(&head, &b.link);
    CHECK(list_is_linked(&a.link) && list_is_linked(&b.link));
    list_remove(&a.link);
    list_remove(&a.link);
    list_remove(&zeroed.link);
    CHECK_INT(digits(&head), 3);
    list_remove(&b.link);
    CHECK(list_empty(&head) && !list_is_linked(&b.link));
    CHECK_INT(list_count(&head), 0);
}

TEST(walk_may_free_the_current_one)
{
    struct list head = LIST_INIT(head);
    for (int i = 1; i <= 5; i++) {
        struct item *item = xnew(struct item);
        item->number = i;
        list_add_tail(&head, &item->link);
    }
    LIST_FOREACH(link, &head)
    {
        struct item *item = list_entry(link, struct item, link);
        if (item->number % 2)
            continue;
        list_remove(link);
        free(item);
    }
    CHECK_INT(digits(&head), 135);
    LIST_FOREACH(link, &head)
    {
        list_remove(link);
        free(list_entry(link, struct item, link));
    }
    CHECK(list_empty(&head));
}
