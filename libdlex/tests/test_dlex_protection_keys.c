/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rights to memory with protection keys, which a signal handler does not inherit. Skipped where processor or kernel have
 * no protection keys. Not here: keys of ARM64. */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "dlex_testing.h"

enum { SKIPPED = 77, ALL = 0, SIZE = 1 << 17 };

static int key;

static char *memory_with_key(void)
{
    char *const memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    ck_assert_int_eq(pkey_mprotect(memory, SIZE, PROT_READ | PROT_WRITE, key), 0);
    return memory;
}

START_TEST(rights_are_those_of_the_opening_after_a_violation)
{
    const unsigned before[] = { ALL, PKEY_DISABLE_WRITE, PKEY_DISABLE_ACCESS };
    for (volatile int i = 0; i < 3; i = i + 1) {
        volatile int in_finally = -1;
        pkey_set(key, before[i]);
        dlex_try_within_rel(3 * MS) {
            if (i == 2)
                pkey_set(key, ALL); /* a window that the body does not close */
            burn(HOUR);
        } dlex_finally {
            in_finally = pkey_get(key);
        } dlex_handle dlex_when(dlex_deadline_violation) {
        } dlex_end
        ck_assert_int_eq(in_finally, (int)before[i]);
        ck_assert_int_eq(pkey_get(key), (int)before[i]);
    }
}
END_TEST

START_TEST(rights_are_those_of_the_opening_after_an_exception)
{
    pkey_set(key, PKEY_DISABLE_WRITE);
    dlex_try {
        pkey_set(key, ALL);
        dlex_throw(dlex_exception);
    } dlex_handle dlex_when_any {
    } dlex_end
    ck_assert_int_eq(pkey_get(key), PKEY_DISABLE_WRITE);
}
END_TEST

START_TEST(rights_that_the_body_changed_stay_if_it_ends)
{
    pkey_set(key, PKEY_DISABLE_WRITE);
    dlex_try_within_rel(HOUR) {
        pkey_set(key, ALL);
    } dlex_end
    ck_assert_int_eq(pkey_get(key), ALL);
}
END_TEST

START_TEST(body_may_use_its_memory_when_it_is_left)
{
    volatile char *const memory = memory_with_key();
    pkey_set(key, ALL);
    dlex_try_within_rel(3 * MS) {
        for (;;)
            memory[1] = memory[1] + 1;
    } dlex_handle dlex_when(dlex_deadline_violation) {
        memory[0] = 'd';
    } dlex_end
    ck_assert_int_eq(memory[0], 'd');
}
END_TEST

static ucontext_t outside, coroutine;

static void be_aborted(void)
{
    dlex_try_within_rel(HOUR) {
        dlex_try_within_rel(3 * MS) {
            burn(HOUR);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            log_mark('d');
        } dlex_end
    } dlex_end
}

/* A handler cannot read the records of these blocks by default. */
START_TEST(blocks_may_be_on_a_stack_with_a_key)
{
    static char alternate[SIZE];
    const stack_t stack = { .ss_sp = alternate, .ss_size = SIZE };
    stack_t before;
    pkey_set(key, ALL);
    ck_assert_int_eq(sigaltstack(&stack, &before), 0);
    log_clear();
    for (int i = 0; i < 3; i++) {
        getcontext(&coroutine);
        coroutine.uc_stack = (stack_t){ .ss_sp = memory_with_key(), .ss_size = SIZE };
        coroutine.uc_link = &outside;
        makecontext(&coroutine, be_aborted, 0);
        swapcontext(&outside, &coroutine);
    }
    sigaltstack(&before, NULL);
    ck_assert_str_eq(log_text(), "ddd");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        rights_are_those_of_the_opening_after_a_violation,
        rights_are_those_of_the_opening_after_an_exception,
        rights_that_the_body_changed_stay_if_it_ends,
        body_may_use_its_memory_when_it_is_left,
        blocks_may_be_on_a_stack_with_a_key,
        NULL,
    };
    key = pkey_alloc(0, ALL);
    if (key < 0) {
        puts("skipped: this processor or kernel has no protection keys");
        return SKIPPED;
    }
    return suite_run("libdlex protection keys", 60, tests);
}
