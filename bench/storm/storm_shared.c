/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "storm_shared.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include <dlex/dlex.h>

#include "ns.h"
#include "storm_loops.h"

enum { RECORD = 32, FILE_BYTES = 64 * 1024, PAIRS = 4 };

/* Two counters for each lock, which are equal whenever the lock is free. */
struct pair {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    uint64_t first, second; /* under mutex */
    uint64_t third, fourth; /* under rwlock */
};

static struct pair pairs[PAIRS];
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER; /* with pairs[0].mutex */
static FILE *shared;                                   /* of records, under its own lock */

int storm_loops_init(void)
{
    for (int i = 0; i < PAIRS; i++) {
        pairs[i] = (struct pair){ .first = 0 };
        pthread_mutex_init(&pairs[i].mutex, NULL);
        pthread_rwlock_init(&pairs[i].rwlock, NULL);
    }
    shared = storm_record_file();
    return shared ? 0 : -1;
}

static void count_if(bool damaged)
{
    if (damaged)
        atomic_fetch_add(&storm_faults.damaged_counters, 1);
}

int storm_loops_finish(void)
{
    int held = 0;
    for (int i = 0; i < PAIRS; i++) {
        struct pair *const p = &pairs[i];
        count_if(p->first != p->second || p->third != p->fourth);
        held += pthread_mutex_trylock(&p->mutex) ? 1 : pthread_mutex_unlock(&p->mutex);
        held += pthread_rwlock_trywrlock(&p->rwlock) ? 1 : pthread_rwlock_unlock(&p->rwlock);
    }
    if (ftrylockfile(shared) != 0)
        return held + 1; /* closing it would wait for ever */
    funlockfile(shared);
    storm_record_check(shared);
    fclose(shared);
    return held;
}

static void torn(void)
{
    atomic_fetch_add(&storm_faults.torn_records, 1);
}

void storm_record_check(FILE *stream)
{
    if (ftell(stream) % RECORD == 0 && !ferror(stream))
        return;
    torn();
    clearerr(stream);
    rewind(stream);
}

void storm_record_write(FILE *stream, uint32_t number)
{
    if (ftell(stream) >= FILE_BYTES)
        rewind(stream);
    fprintf(stream, "%010u %-20s\n", number, "a record");
}

FILE *storm_record_file(void)
{
    FILE *const file = tmpfile();
    for (uint32_t i = 0; file && i < FILE_BYTES / RECORD; i++)
        storm_record_write(file, i);
    return file;
}

static bool is_record(const char *text)
{
    return strspn(text, "0123456789") == 10 && memcmp(text + 10, " a record ", 10) == 0
           && text[RECORD - 1] == '\n';
}

void storm_record_read(FILE *stream, uint32_t number)
{
    char text[RECORD + 1] = "";
    fseek(stream, (long)(number / 64 % (FILE_BYTES / RECORD)) * RECORD, SEEK_SET);
    if (fread(text, RECORD, 1, stream) == 1 && !is_record(text))
        torn();
    clearerr(stream);
    fseek(stream, 0, SEEK_END);
}

void storm_shared_stream_step(uint32_t number)
{
    flockfile(shared);
    if (number % 4 == 0) {
        storm_record_read(shared, number / 4);
    } else {
        if (ftell(shared) >= FILE_BYTES)
            rewind(shared);
        fprintf(shared, "%010u", number);
        fprintf(shared, " %-20s\n", "a record");
    }
    funlockfile(shared);
}

static void count(struct pair *p)
{
    count_if(p->first != p->second);
    p->first++;
    p->second++;
}

static void use_mutex(struct pair *p, int how)
{
    if (how == 0 && pthread_mutex_trylock(&p->mutex) != 0)
        return;
    if (how == 1)
        dlex_scoped_mutex_lock(&p->mutex);
    else if (how == 2)
        pthread_mutex_lock(&p->mutex);
    count(p);
    if (how == 1)
        dlex_scoped_mutex_unlock(&p->mutex);
    else
        pthread_mutex_unlock(&p->mutex);
}

static void use_two(struct pair *outer, struct pair *inner)
{
    pthread_mutex_lock(&outer->mutex);
    count(outer);
    if (inner > outer) /* all threads use the same order */
        use_mutex(inner, 2);
    pthread_mutex_unlock(&outer->mutex);
}

static void use_rwlock(struct pair *p, bool write)
{
    if (write) {
        pthread_rwlock_wrlock(&p->rwlock);
        p->third++;
        p->fourth++;
    } else {
        pthread_rwlock_rdlock(&p->rwlock);
        count_if(p->third != p->fourth);
    }
    pthread_rwlock_unlock(&p->rwlock);
}

static void use_condition(bool signal)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += 100000;
    if (time.tv_nsec >= NS_PER_S) {
        time.tv_nsec -= NS_PER_S;
        time.tv_sec++;
    }
    pthread_mutex_lock(&pairs[0].mutex);
    count(&pairs[0]);
    if (signal)
        pthread_cond_signal(&cond);
    else
        pthread_cond_clockwait(&cond, &pairs[0].mutex, CLOCK_MONOTONIC, &time);
    count(&pairs[0]);
    pthread_mutex_unlock(&pairs[0].mutex);
}

void storm_locks_step(uint32_t number)
{
    struct pair *const p = &pairs[number / 8 % PAIRS];
    switch (number % 8) {
    case 0: case 1: case 2: use_mutex(p, number % 8); break;
    case 3: use_two(p, &pairs[number / 32 % PAIRS]); break;
    case 4: case 5: case 6: use_rwlock(p, number % 8 == 4); break;
    default: use_condition(number / 32 % 4);
    }
}
