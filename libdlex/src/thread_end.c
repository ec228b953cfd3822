/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a thread gives back when it ends: its timer, and what its open blocks have acquired.
 *
 * The destructors of thread-specific data run in rounds (four with glibc), and destructors of the
 * program may open blocks in each of them. In the last round the library's destructor may have run
 * before them, and it does not run again. So once it has run, the thread keeps nothing longer than its
 * outermost block: the end of that block gives everything back.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "quiet.h"
#include "thread.h"

/* The number of the library's key plus one; 0: there is no key yet. This does not use pthread_once:
 * POSIX does not say what happens to one that another thread is in the middle of when the process
 * forks. */
static _Atomic uint64_t key_number;

/* With the guard held. */
static void begin_to_end(struct thread_state *t)
{
    t->is_ending = true;
    dlex_scoped_end_(t);
    dlex_set_top(NULL);
    t->level = 0;
    t->frame = t->low = UINTPTR_MAX;
    t->target.bound = 0;
    dlex_guard_.pending = 0;
    dlex_guard_.depth = 1;
}

/* With the guard held: from now on no timer and no other thread signals this thread. A handler that
 * opens a block gets all this anew, and gives it back at the end of the block. */
static void become_unreachable(struct thread_state *t)
{
    struct quiet before;
    dlex_quiet_begin(&before);
    dlex_timer_drop(t);
    dlex_target_leave(&t->target);
    dlex_quiet_end(&before);
}

/* A cancelled thread has left frames without returning from them. AddressSanitizer has marked parts of
 * these frames, which it would report when the next functions use the same part of the stack. */
static void forget_left_frames(void)
{
#ifdef __SANITIZE_ADDRESS__
    enum { FRAMES_SIZE = 16384 };
    extern void __asan_unpoison_memory_region(const volatile void *address, size_t size);
    __asan_unpoison_memory_region((char *)__builtin_frame_address(0) - FRAMES_SIZE, FRAMES_SIZE);
#endif
}

static void on_thread_end(void *state)
{
    struct thread_state *t = state;
    forget_left_frames();
    dlex_try_within_disable();
    t->end_is_watched = false;
    begin_to_end(t);
    become_unreachable(t);
    dlex_guard_.depth = 0;
}

/* Destructors of the program may run before the library's. By then code that is not compiled to be
 * unwound has left its blocks open: their frames are gone, and a violation would bring the thread back. */
void dlex_forget_at_exit(struct thread_state *t)
{
    if (!t->is_ending && dlex_is_exiting(t))
        begin_to_end(t);
}

/* Two threads may get here at once: the key of one of them stays. */
static int find_key(pthread_key_t *key)
{
    uint64_t number = atomic_load(&key_number);
    if (number) {
        *key = (pthread_key_t)(number - 1);
        return 0;
    }
    const int err = -pthread_key_create(key, on_thread_end);
    if (err)
        return err;
    if (!atomic_compare_exchange_strong(&key_number, &number, (uint64_t)*key + 1)) {
        pthread_key_delete(*key);
        *key = (pthread_key_t)(number - 1);
    }
    return 0;
}

int dlex_watch_thread_end(struct thread_state *t)
{
    if (t->end_is_watched)
        return 0;
    pthread_key_t key;
    int err = find_key(&key);
    if (!err)
        err = -pthread_setspecific(key, t);
    t->end_is_watched = !err;
    return err;
}

void dlex_give_back(struct thread_state *t)
{
    if (t->level > 0)
        return;
    dlex_scoped_end_(t);
    become_unreachable(t);
}
