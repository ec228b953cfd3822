/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order of events, and the two rules for the UNIX scheduler. Not covered: what DWCS makes of them (test_event_rules.c). */
#include "event_queue.h"
#include "event_unix.h"

#include <errno.h>

#include "suite.h"

static void raise_event(struct event_queue *queue, int sink, int64_t due_ns, int64_t data)
{
    ck_assert_int_eq(event_raise(queue, sink, due_ns, data), 0);
}

static void expect_data(const struct event_queue *queue, const int64_t *data, int count)
{
    ck_assert_int_eq(queue->count, count);
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(queue->event[i].data, data[i]);
}

START_TEST(events_are_in_order_of_delivery_time_then_of_arrival)
{
    struct event_queue queue;
    event_queue_init(&queue);
    raise_event(&queue, 0, 20, 1);
    raise_event(&queue, 1, 10, 2);
    raise_event(&queue, 2, 20, 3);
    raise_event(&queue, 3, 10, 4);
    raise_event(&queue, 4, 15, 5);
    expect_data(&queue, (const int64_t[]){2, 4, 5, 1, 3}, 5);
}
END_TEST

START_TEST(event_is_found_from_its_delivery_time_on)
{
    struct event_queue queue;
    event_queue_init(&queue);
    raise_event(&queue, 0, 10, 0);
    raise_event(&queue, 1, 20, 0);
    raise_event(&queue, 1, 30, 0);
    ck_assert_int_eq(event_due_for(&queue, 1, 19), EVENT_NONE);
    ck_assert_int_eq(event_due_for(&queue, 1, 20), 1);
    ck_assert_int_eq(event_due_for(&queue, 1, 40), 1);
    ck_assert_int_eq(event_due_for(&queue, 2, 40), EVENT_NONE);
}
END_TEST

START_TEST(removed_events_leave_the_others_in_order)
{
    struct event_queue queue;
    event_queue_init(&queue);
    for (int i = 0; i < 5; i++)
        raise_event(&queue, i % 2, i, i);
    event_remove(&queue, 1);
    expect_data(&queue, (const int64_t[]){0, 2, 3, 4}, 4);
    event_remove(&queue, 3);
    expect_data(&queue, (const int64_t[]){0, 2, 3}, 3);
    ck_assert_int_eq(event_count(&queue, 0), 2);
    ck_assert_int_eq(event_count(&queue, 1), 1);
    ck_assert_int_eq(event_count(&queue, 2), 0);
    ck_assert_int_eq(event_forget(&queue, 0), 2);
    expect_data(&queue, (const int64_t[]){3}, 1);
    ck_assert_int_eq(event_forget(&queue, 0), 0);
}
END_TEST

START_TEST(full_queue_refuses_and_stays_as_it_is)
{
    struct event_queue queue;
    event_queue_init(&queue);
    for (int i = 0; i < EVENT_CAPACITY; i++)
        raise_event(&queue, 0, 10, i);
    ck_assert_int_eq(event_raise(&queue, 0, 0, -1), -ENOBUFS);
    ck_assert_int_eq(queue.count, EVENT_CAPACITY);
    ck_assert_int_eq(queue.event[0].data, 0);
    ck_assert_int_eq(queue.event[EVENT_CAPACITY - 1].data, EVENT_CAPACITY - 1);
}
END_TEST

static const struct unix_process other = {UNIX_OTHER, 0};
static const struct unix_process round_robin_5 = {UNIX_RR, 5};
static const struct unix_process fifo_5 = {UNIX_FIFO, 5};
static const struct unix_process fifo_6 = {UNIX_FIFO, 6};

START_TEST(real_time_sink_precedes_its_own_and_lower_classes)
{
    ck_assert(event_unix_precedes(&fifo_5, &other));
    ck_assert(event_unix_precedes(&fifo_5, &round_robin_5));
    ck_assert(event_unix_precedes(&round_robin_5, &fifo_5));
    ck_assert(event_unix_precedes(&fifo_6, &fifo_5));
    ck_assert(!event_unix_precedes(&fifo_5, &fifo_6));
}
END_TEST

START_TEST(ordinary_sink_precedes_ordinary_processes_only)
{
    ck_assert(event_unix_precedes(&other, &other));
    ck_assert(!event_unix_precedes(&other, &fifo_5));
    ck_assert(!event_unix_precedes(&other, &round_robin_5));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        events_are_in_order_of_delivery_time_then_of_arrival,
        event_is_found_from_its_delivery_time_on,
        removed_events_leave_the_others_in_order,
        full_queue_refuses_and_stays_as_it_is,
        real_time_sink_precedes_its_own_and_lower_classes,
        ordinary_sink_precedes_ordinary_processes_only,
        NULL,
    };
    return suite_run("event_queue", SUITE_TIMEOUT_DEFAULT, tests);
}
