/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resources that are released when their block is aborted. Not here: mutexes (scoped_mutexes); interrupted
 * calls on a stream or a heap between acquisition and release, which need libdlex-guard; lack of memory
 * for a record. */
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlex_testing.h"

dlex_define_exception(some_error) dlex_extends(dlex_exception);

/* A resource is a letter. Its release writes the letter to the log. */
static void give_back(void *letter)
{
    log_mark(*(const char *)letter);
}

static void *take(void *letter)
{
    return letter;
}

static void acquire(const char *letter)
{
    dlex_scoped_acquire(take, (void *)(uintptr_t)letter, give_back);
}

START_TEST(aborted_block_releases_newest_first_and_before_its_finally)
{
    log_clear();
    dlex_try_within_rel(SOON) {
        acquire("1");
        acquire("2");
        acquire("3");
        burn(HOUR);
    } dlex_finally {
        log_mark('f');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "321fd");
}
END_TEST

START_TEST(resource_that_the_body_released_or_forgot_is_not_released_again)
{
    log_clear();
    static char a[] = "a", b[] = "b", c[] = "c";
    dlex_try {
        acquire(a);
        acquire(b);
        acquire(c);
        dlex_scoped_release(give_back, b);
        ck_assert(dlex_scoped_forget(give_back, a));
        ck_assert(!dlex_scoped_forget(give_back, a));
        dlex_throw(some_error);
    } dlex_handle dlex_when(some_error) {
        log_mark('s');
    } dlex_end
    ck_assert_str_eq(log_text(), "bcs");
}
END_TEST

START_TEST(resources_of_a_body_that_ended_pass_to_the_block_around_it)
{
    log_clear();
    dlex_try {
        acquire("1");
        dlex_try {
            acquire("2");
        } dlex_finally {
            log_mark('f');
        } dlex_end
        log_mark('-');
        dlex_throw(some_error);
    } dlex_handle dlex_when(some_error) {
        log_mark('s');
    } dlex_end
    ck_assert_str_eq(log_text(), "f-21s");
}
END_TEST

START_TEST(resources_of_an_outermost_body_that_ended_belong_to_the_program)
{
    log_clear();
    dlex_try {
        acquire("1");
    } dlex_end
    dlex_try {
        acquire("2");
        dlex_throw(some_error);
    } dlex_handle dlex_when_any {
        log_mark('s');
    } dlex_end
    dlex_try {
        dlex_throw(some_error);
    } dlex_handle dlex_when_any {
        log_mark('t');
    } dlex_end
    ck_assert_str_eq(log_text(), "2st");
}
END_TEST

START_TEST(violation_of_an_outer_block_releases_block_by_block)
{
    log_clear();
    dlex_try_within_rel(SOON) {
        acquire("1");
        dlex_try_within_rel(HOUR) {
            acquire("2");
            dlex_try {
                acquire("3");
                burn(HOUR);
            } dlex_finally {
                log_mark('c');
            } dlex_handle dlex_when_any {
                log_mark('x');
            } dlex_end
        } dlex_finally {
            log_mark('b');
        } dlex_end
    } dlex_finally {
        log_mark('a');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('d');
    } dlex_end
    ck_assert_str_eq(log_text(), "3c2b1ad");
}
END_TEST

START_TEST(resource_acquired_in_a_handler_belongs_to_the_block_around)
{
    log_clear();
    dlex_try {
        dlex_try {
            acquire("1");
            dlex_throw(some_error);
        } dlex_handle dlex_when(some_error) {
            acquire("2");
            log_mark('h');
            dlex_rethrow();
        } dlex_end
    } dlex_handle dlex_when(some_error) {
        log_mark('s');
    } dlex_end
    ck_assert_str_eq(log_text(), "1h2s");
}
END_TEST

static void leave_by_return(void)
{
    dlex_try {
        acquire("r");
        return;
    } dlex_end
}

static int leave_by_dlex_return(void)
{
    dlex_try {
        acquire("d");
        dlex_return(1);
    } dlex_finally {
        log_mark('f');
    } dlex_end
    return 0;
}

static void leave_by_break(void)
{
    for (;;) {
        dlex_try {
            acquire("b");
            break;
        } dlex_end
    }
}

START_TEST(leaving_a_body_early_does_not_release_its_resources)
{
    log_clear();
    dlex_try {
        leave_by_return();
        ck_assert_int_eq(leave_by_dlex_return(), 1);
        leave_by_break();
        log_mark('-');
        dlex_throw(some_error);
    } dlex_handle dlex_when(some_error) {
        log_mark('s');
    } dlex_end
    ck_assert_str_eq(log_text(), "f-bdrs");
}
END_TEST

/* Removes a record that is older than an open block. The next record uses the same memory. */
START_TEST(record_removed_while_an_inner_block_is_open_does_no_harm)
{
    log_clear();
    static char a[] = "a", b[] = "b";
    dlex_try {
        acquire(a);
        dlex_try {
            dlex_scoped_forget(give_back, a);
            acquire(b);
            dlex_throw(some_error);
        } dlex_handle dlex_when(some_error) {
            log_mark('s');
        } dlex_end
    } dlex_end
    ck_assert_str_eq(log_text(), "bs");
}
END_TEST

START_TEST(outside_blocks_the_functions_are_the_plain_calls)
{
    log_clear();
    acquire("1");
    ck_assert_int_eq(dlex_scoped_defer(give_back, "2"), 0);
    char *const memory = dlex_scoped_calloc(3, 5);
    dlex_try {
        dlex_throw(some_error);
    } dlex_handle dlex_when_any {
        log_mark('s');
    } dlex_end
    ck_assert_str_eq(log_text(), "s");
    ck_assert_int_eq(memory[14], 0);
    dlex_scoped_free(memory);
    ck_assert_ptr_null(dlex_scoped_calloc(SIZE_MAX, 2));
    ck_assert_int_eq(dlex_scoped_close(-1), -1);
}
END_TEST

static void *end_in_a_block(void *unused)
{
    dlex_try {
        dlex_try {
            acquire("1");
        } dlex_end
    } dlex_end
    dlex_try {
        acquire("2");
        dlex_try {
            acquire("3");
            pthread_exit((void *)(uintptr_t)log_text());
        } dlex_end
    } dlex_end
    return unused;
}

static char log_of_the_ended[8];
static pthread_key_t last_words;

static void keep_log(void *unused)
{
    (void)unused;
    strncpy(log_of_the_ended, log_text(), sizeof(log_of_the_ended) - 1);
}

static void *end_and_tell(void *unused)
{
    pthread_setspecific(last_words, "");
    return end_in_a_block(unused);
}

START_TEST(thread_that_ends_in_a_block_releases_the_resources_of_the_block)
{
    dlex_try {
        acquire("k"); /* creates the library's key before that of the test */
    } dlex_end
    ck_assert_int_eq(pthread_key_create(&last_words, keep_log), 0);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, end_and_tell, NULL), 0);
    pthread_join(thread, NULL);
    ck_assert_str_eq(log_of_the_ended, "32");
}
END_TEST

static int open_descriptors(void)
{
    volatile int n = 0;
    DIR *const dir = opendir("/proc/self/fd");
    while (readdir(dir))
        n = n + 1;
    closedir(dir);
    return n;
}

static void use_files_for_ever(void)
{
    for (;;) {
        const int file = dlex_scoped_open("/dev/null", O_RDWR, 0);
        FILE *const stream = dlex_scoped_fopen("/dev/null", "w");
        dlex_try_within_disable();
        const int copy = dlex_scoped_fd(dup(file));
        dlex_try_within_enable();
        dlex_scoped_close(file);
        dlex_scoped_fclose(stream);
        dlex_scoped_close(copy);
    }
}

START_TEST(storm_over_files_leaks_no_descriptor)
{
    const int before = open_descriptors();
    volatile int aborts = 0;
    for (volatile int i = 0; i < 2000; i++) {
        dlex_try_within_rel(INT64_C(20000) + i * 7919 % 30000) {
            use_files_for_ever();
        } dlex_handle dlex_when(dlex_deadline_violation) {
            aborts = aborts + 1;
        } dlex_end
    }
    ck_assert_int_eq(aborts, 2000);
    ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

static void use_memory_for_ever(unsigned seed)
{
    enum { SLOTS = 16 };
    void *slots[SLOTS] = { NULL };
    for (unsigned i = seed;; i = i * 1103515245 + 12345) {
        void **const slot = &slots[i / 65536 % SLOTS];
        if (i % 3 == 0) {
            *slot = dlex_scoped_realloc(*slot, 1 + i / 7 % 3000);
        } else {
            dlex_scoped_free(*slot);
            *slot = dlex_scoped_malloc(i / 7 % 3000);
        }
    }
}

static int64_t bytes_in_use(void)
{
    return (int64_t)mallinfo2().uordblks;
}

START_TEST(storm_over_memory_leaks_no_memory)
{
    volatile int64_t after_few = 0;
    volatile int aborts = 0;
    for (volatile int i = 0; i < 5000; i++) {
        if (i == 100)
            after_few = bytes_in_use();
        dlex_try_within_rel(INT64_C(5000) + i * 7919 % 30000) {
            use_memory_for_ever(i);
        } dlex_handle dlex_when(dlex_deadline_violation) {
            aborts = aborts + 1;
        } dlex_end
    }
    ck_assert_int_eq(aborts, 5000);
    /* The caches of the allocator keep some memory. A leak would lose one block for each abort. */
    ck_assert_int_lt(bytes_in_use() - after_few, 300 * 1000);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        aborted_block_releases_newest_first_and_before_its_finally,
        resource_that_the_body_released_or_forgot_is_not_released_again,
        resources_of_a_body_that_ended_pass_to_the_block_around_it,
        resources_of_an_outermost_body_that_ended_belong_to_the_program,
        violation_of_an_outer_block_releases_block_by_block,
        resource_acquired_in_a_handler_belongs_to_the_block_around,
        leaving_a_body_early_does_not_release_its_resources,
        record_removed_while_an_inner_block_is_open_does_no_harm,
        outside_blocks_the_functions_are_the_plain_calls,
        thread_that_ends_in_a_block_releases_the_resources_of_the_block,
        storm_over_files_leaks_no_descriptor,
        storm_over_memory_leaks_no_memory,
        NULL,
    };
    return suite_run("libdlex scoped resources", 120, tests);
}
