/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pman_log.h"

void pman_log_add(struct pman_log *log, const struct pman_log_record *record)
{
    const uint64_t written = __atomic_load_n(&log->written, __ATOMIC_RELAXED);
    log->record[written % PMAN_LOG_SIZE] = *record;
    __atomic_store_n(&log->written, written + 1, __ATOMIC_RELEASE);
}

void pman_log_follow(struct pman_log_reader *reader, const struct pman_log *log)
{
    *reader = (struct pman_log_reader){.next = __atomic_load_n(&log->written, __ATOMIC_ACQUIRE)};
}

/* The oldest record may be overwritten at this moment; the one after it is safe if it still is the second oldest afterwards. */
static int64_t overwritten(const struct pman_log_reader *reader, uint64_t written)
{
    const uint64_t behind = written - reader->next;
    return behind >= PMAN_LOG_SIZE ? (int64_t)(behind - PMAN_LOG_SIZE + 1) : 0;
}

int pman_log_read(struct pman_log_reader *reader, const struct pman_log *log, struct pman_log_record *record)
{
    for (;;) {
        const uint64_t written = __atomic_load_n(&log->written, __ATOMIC_ACQUIRE);
        const int64_t gone = overwritten(reader, written);
        reader->lost += gone;
        reader->next += (uint64_t)gone;
        if (reader->next == written)
            return 0;
        *record = log->record[reader->next % PMAN_LOG_SIZE];
        __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the copy comes before the second look */
        if (overwritten(reader, __atomic_load_n(&log->written, __ATOMIC_RELAXED)))
            continue;
        reader->next++;
        return 1;
    }
}

const char *pman_log_kind_name(enum pman_log_kind kind)
{
    static const char *const names[] = {
        [PMAN_LOG_TICK] = "tick", [PMAN_LOG_RELEASE] = "release", [PMAN_LOG_START] = "start", [PMAN_LOG_MISS] = "miss",
        [PMAN_LOG_FINISH] = "finish",
    };
    return names[kind];
}
