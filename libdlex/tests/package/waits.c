/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For another libc than glibc: violations in a wait for a mutex, of a WCET, and by a trigger. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <dlex/dlex.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct dlex_trigger trigger;

static int wait_for_a_locked_mutex(void)
{
    volatile int violations = 0;
    pthread_mutex_lock(&mutex);
    const int64_t deadline_ns = dlex_now_ns() + DLEX_MS(20);
    dlex_try_within_abs(deadline_ns) {
        dlex_scoped_mutex_lock(&mutex);
    } dlex_handle dlex_when(dlex_deadline_violation) {
        violations = dlex_now_ns() >= deadline_ns;
    } dlex_end
    pthread_mutex_unlock(&mutex);
    dlex_try_within_rel(DLEX_S(3600)) {
        violations = dlex_scoped_mutex_lock(&mutex) == 0 && violations;
        dlex_scoped_mutex_unlock(&mutex);
    } dlex_end
    return violations;
}

static int use_up_a_wcet(void)
{
    volatile int violations = 0;
    dlex_try_within_wcet(DLEX_MS(5)) {
        for (;;)
            dlex_publish();
    } dlex_handle dlex_when(dlex_wcet_violation) {
        violations = 1;
    } dlex_end
    return violations;
}

static void *fire(void *unused)
{
    const struct timespec nap = { .tv_nsec = 10 * 1000 * 1000 };
    nanosleep(&nap, NULL);
    dlex_trigger_fire(&trigger);
    return unused;
}

static int be_triggered(void)
{
    pthread_t thread;
    volatile int violations = 0;
    if (pthread_create(&thread, NULL, fire, NULL) != 0)
        return 0;
    dlex_try {
        dlex_trigger_bind(&trigger);
        for (;;)
            dlex_publish();
    } dlex_handle dlex_when(dlex_trigger_violation) {
        violations = 1;
    } dlex_end
    pthread_join(thread, NULL);
    return violations;
}

int main(void)
{
    printf("%d violations\n", wait_for_a_locked_mutex() + use_up_a_wcet() + be_triggered());
    return 0;
}
