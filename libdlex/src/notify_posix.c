/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The router: one thread that sleeps until the earliest expiry of all threads and then signals the
 * thread concerned. The first thread that needs the router starts it. It ends when no thread has needed
 * it for a second: otherwise a process whose own threads have all ended would never end.
 *
 * Arming happens in signal handlers too, so it takes no lock: it stores the expiry, and wakes the
 * router if the router would sleep beyond it. For the same reason a signal wakes the router, and not a
 * condition variable. The router has all signals blocked and fetches that one with sigtimedwait, which
 * cannot lose it. (pselect would do, but Linux lets it sleep 0.1 % too long: a deadline of 100 ms was
 * noticed 115 to 137 us late in the median, instead of 63 to 89 us.)
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>

#include "notify.h"
#include "cancellation.h"
#include "quiet.h"
#include "signals.h"

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "arming in a signal handler needs 64-bit atomics");

enum { STACK_SIZE = 128 * 1024 };
static const int64_t LINGER_NS = 1000000000;
/* Between attempts to send when the system's limit of queued signals is reached. */
static const int64_t RETRY_NS = 1000000;

/* Guards the list, the router's existence and its priority. Taken by the router; by threads that come
 * and go, with their signals blocked; and round fork. As long as a thread is in the list and the lock
 * is held, that thread exists. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct notify *list;
static pthread_t router;
static bool running;
static int router_priority; /* of SCHED_FIFO; 0: as the thread that started it */

/*
 * Until when the router sleeps. INT64_MAX: it is checking the expiries. WOKEN: a signal to it is on its
 * way, and it will check them after that. The router first announces INT64_MAX and then reads the
 * expiries. A thread first stores its expiry and then reads this. So one of the two sees the other (all
 * of it is sequentially consistent).
 */
static _Atomic int64_t wake_ns = INT64_MAX;
enum { WOKEN = 0 };

/* Signals the router at most once for each of its rounds, so that its queue of signals stays short. */
static int wake_before(int64_t time_ns)
{
    int64_t planned_ns = atomic_load(&wake_ns);
    do {
        if (time_ns >= planned_ns)
            return 0;
    } while (!atomic_compare_exchange_weak(&wake_ns, &planned_ns, WOKEN));
    const int err = -pthread_kill(router, dlex_signal());
    if (err)
        atomic_store(&wake_ns, INT64_MAX); /* the router sleeps on; the next caller tries again */
    return err;
}

static int wake(void)
{
    return wake_before(WOKEN + 1);
}

/* The expiry is cleared first and the signal sent then: an expiry that the thread sets on receipt must
 * not be cleared. */
static void send(struct notify *n, int64_t expiry_ns)
{
    int64_t expected = expiry_ns;
    if (!atomic_compare_exchange_strong(&n->expiry_ns, &expected, INT64_MAX))
        return;
    if (pthread_kill(n->thread, dlex_signal()) == 0)
        return;
    expected = INT64_MAX;
    atomic_compare_exchange_strong(&n->expiry_ns, &expected, expiry_ns);
}

/* With the lock held: signals the threads that are due. Returns when to look again. */
static int64_t serve(void)
{
    int64_t next_ns = INT64_MAX;
    for (struct notify *n = list; n; n = n->next) {
        int64_t expiry_ns = atomic_load(&n->expiry_ns);
        const int64_t now_ns = dlex_now_ns();
        if (expiry_ns <= now_ns) {
            send(n, expiry_ns);
            expiry_ns = atomic_load(&n->expiry_ns);
            if (expiry_ns <= now_ns)
                expiry_ns = now_ns + RETRY_NS;
        }
        if (expiry_ns < next_ns)
            next_ns = expiry_ns;
    }
    return next_ns;
}

static void sleep_until(int64_t time_ns, const sigset_t *wakers)
{
    const int64_t ns = time_ns - dlex_now_ns();
    const struct timespec left = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
    if (time_ns == INT64_MAX)
        sigwaitinfo(wakers, NULL);
    else if (ns > 0)
        sigtimedwait(wakers, NULL, &left);
}

/* Runs one round of the router. Returns whether the router goes on. */
static bool route_once(const sigset_t *wakers, int64_t *unused_since_ns)
{
    atomic_store(&wake_ns, INT64_MAX);
    pthread_mutex_lock(&lock);
    int64_t next_ns = serve();
    if (list) {
        *unused_since_ns = INT64_MAX;
    } else {
        if (*unused_since_ns == INT64_MAX)
            *unused_since_ns = dlex_now_ns();
        next_ns = *unused_since_ns + LINGER_NS;
        running = next_ns > dlex_now_ns();
    }
    const bool goes_on = running;
    pthread_mutex_unlock(&lock);
    int64_t nobody_woke_ns = INT64_MAX;
    if (goes_on) {
        atomic_compare_exchange_strong(&wake_ns, &nobody_woke_ns, next_ns);
        sleep_until(next_ns, wakers);
    }
    return goes_on;
}

static void *route(void *unused)
{
    (void)unused;
    sigset_t wakers;
    sigemptyset(&wakers);
    sigaddset(&wakers, dlex_signal());
    int64_t unused_since_ns = INT64_MAX;
    while (route_once(&wakers, &unused_since_ns))
        ;
    return NULL;
}

static size_t default_stack_size(const pthread_attr_t *attr)
{
    size_t size = 0;
    pthread_attr_getstacksize(attr, &size);
    return size;
}

/* The small stack is for programs that lock their memory. pthread_create refuses a stack that is too
 * small for the program's thread-local variables with EINVAL. */
static int start_router(void)
{
    pthread_attr_t attr;
    int err = pthread_attr_init(&attr);
    if (err)
        return -err;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    const size_t default_size = default_stack_size(&attr);
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    err = pthread_create(&router, &attr, route, NULL);
    if (err == EINVAL) {
        pthread_attr_setstacksize(&attr, default_size);
        err = pthread_create(&router, &attr, route, NULL);
    }
    pthread_attr_destroy(&attr);
    running = !err;
    router_priority = 0;
    atomic_store(&wake_ns, INT64_MAX);
    return -err;
}

/* Returns the policy of the calling thread, or a negative value. glibc's pthread_getschedparam takes a lock, which
 * the code that a signal handler has interrupted may hold; on Linux sched_getscheduler(0) is that of the thread.
 * musl's sched_getscheduler always fails, and its pthread_getschedparam is not interrupted. */
static int policy_of_caller(struct sched_param *own)
{
#ifdef __GLIBC__
    const int policy = sched_getscheduler(0);
    return sched_getparam(0, own) < 0 ? -1 : policy;
#else
    int policy;
    return pthread_getschedparam(pthread_self(), &policy, own) == 0 ? policy : -1;
#endif
}

/* A thread of fixed priority that computes on the router's processor would keep the router from
 * running, for ever. If the rights do not suffice the router stays as it was. At the highest priority
 * the router is on a level with the caller and needs another processor. */
static void outrank_caller(void)
{
    struct sched_param own;
    const int policy = policy_of_caller(&own);
    if (policy != SCHED_FIFO && policy != SCHED_RR)
        return;
    const int highest = sched_get_priority_max(SCHED_FIFO);
    const int wanted = own.sched_priority < highest ? own.sched_priority + 1 : highest;
    const struct sched_param above = { .sched_priority = wanted };
    if (wanted > router_priority && pthread_setschedparam(router, SCHED_FIFO, &above) == 0)
        router_priority = wanted;
}

static void enter(struct quiet *before)
{
    dlex_quiet_begin(before);
    pthread_mutex_lock(&lock);
}

static void leave(const struct quiet *before)
{
    pthread_mutex_unlock(&lock);
    dlex_quiet_end(before);
}

int dlex_notify_create(struct notify *n)
{
    struct quiet before;
    enter(&before);
    int err = running ? 0 : start_router();
    /* A thread that may not queue a signal gets the error now, and not when an expiry cannot be sent. */
    if (!err)
        err = wake();
    if (!err) {
        outrank_caller();
        n->thread = pthread_self();
        atomic_store(&n->expiry_ns, INT64_MAX);
        n->next = list;
        list = n;
    }
    leave(&before);
    return err;
}

void dlex_notify_destroy(struct notify *n)
{
    struct quiet before;
    enter(&before);
    struct notify **link = &list;
    while (*link != n)
        link = &(*link)->next;
    *link = n->next;
    if (!list)
        wake(); /* it may sleep for ever; now it must find out when to end */
    leave(&before);
}

/* In a handler that interrupted a call that sleeps, a cancellation could come between the two steps of
 * waking, and the router would not be woken again. */
int dlex_notify_arm(struct notify *n, int64_t expiry_ns)
{
    struct cancellation before;
    dlex_cancellation_hold(&before);
    atomic_store(&n->expiry_ns, expiry_ns);
    const int err = wake_before(expiry_ns);
    dlex_cancellation_allow(&before);
    return err;
}

/* The router sends with the lock held, so no signal is on its way once this thread has had the lock.
 * What has been sent is handled on the return from pthread_sigmask. */
void dlex_notify_flush(struct notify *n)
{
    (void)n;
    struct quiet before;
    enter(&before);
    leave(&before);
}

/* The CPU clock of another thread can be read, but not whether that thread sleeps. */
void dlex_notify_prepare_running(struct notify *n)
{
    (void)n;
}

int dlex_notify_when_running(struct notify *n)
{
    (void)n;
    return -ENOTSUP;
}

long dlex_notify_switches(void)
{
    return 0;
}

static struct quiet before_fork; /* guarded by the lock */

void dlex_notify_before_fork(void)
{
    struct quiet before;
    enter(&before);
    before_fork = before;
}

void dlex_notify_in_parent(void)
{
    const struct quiet before = before_fork;
    leave(&before);
}

/* The list ran through the stacks of threads that are gone. */
void dlex_notify_in_child(void)
{
    list = NULL;
    running = false;
    atomic_store(&wake_ns, INT64_MAX);
    dlex_notify_in_parent();
}
