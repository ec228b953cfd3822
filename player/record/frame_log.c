/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame_log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_ROWS = 4096,
    /* 67 million pictures: 12 days at 60 pictures a second. */
    CHUNKS_MAX = 16384,
    /* For a log that is not kept. The pictures in flight are far fewer than one chunk. */
    CIRCLE_CHUNKS = 2,
    /* A row without a picture counts as a second field when a row at least this far after it came out. */
    MERGE_DISTANCE = 2,
};

struct frame_log {
    bool keep;
    _Atomic int chunks;    /* written by the feeder (release), read by the main thread (acquire) */
    _Atomic int64_t count; /* written by the main thread; read by the feeder, for which an older value is good enough */
    int64_t promised;      /* feeder: packets handed over so far; each will need a row */
    struct frame_row *chunk[CHUNKS_MAX];
};

int frame_log_create(struct frame_log **out, bool keep)
{
    struct frame_log *log = calloc(1, sizeof *log);
    if (!log)
        return -ENOMEM;
    log->keep = keep;
    if (frame_log_reserve(log)) {
        free(log);
        return -ENOMEM;
    }
    *out = log;
    return 0;
}

void frame_log_destroy(struct frame_log **log)
{
    if (!*log)
        return;
    for (int i = 0; i < atomic_load(&(*log)->chunks); i++)
        free((*log)->chunk[i]);
    free(*log);
    *log = NULL;
}

int frame_log_reserve(struct frame_log *log)
{
    const int chunks = atomic_load_explicit(&log->chunks, memory_order_relaxed);
    const int64_t count = atomic_load_explicit(&log->count, memory_order_relaxed);
    if (log->promised < count)
        log->promised = count;
    log->promised++;
    const int64_t room = (int64_t)chunks * CHUNK_ROWS;
    const bool enough = log->keep ? log->promised + CHUNK_ROWS / 2 < room : chunks >= CIRCLE_CHUNKS;
    if (enough || chunks == CHUNKS_MAX)
        return 0;
    struct frame_row *const rows = malloc(CHUNK_ROWS * sizeof *rows);
    if (!rows)
        return -ENOMEM;
    memset(rows, 0, CHUNK_ROWS * sizeof *rows); /* touched now, so that appending causes no page fault */
    log->chunk[chunks] = rows;
    atomic_store_explicit(&log->chunks, chunks + 1, memory_order_release);
    return 0;
}

static struct frame_row *row_at(const struct frame_log *log, int64_t position)
{
    return &log->chunk[position / CHUNK_ROWS][position % CHUNK_ROWS];
}

struct frame_row *frame_log_append(struct frame_log *log)
{
    const int64_t count = atomic_load_explicit(&log->count, memory_order_relaxed);
    const int64_t room = (int64_t)atomic_load_explicit(&log->chunks, memory_order_acquire) * CHUNK_ROWS;
    if (log->keep && count >= room)
        return NULL;
    struct frame_row *const row = row_at(log, count % room);
    *row = (struct frame_row){.record = frame_record_empty()};
    atomic_store_explicit(&log->count, count + 1, memory_order_relaxed);
    return row;
}

/*
 * Returns whether a row is the second packet of a picture. A picture of two fields may come in two packets, and only
 * the row of the first packet is marked as out. The second packet is recognised afterwards: it never came out, its
 * neighbour is interlaced, and later packets of its segment did come out, or none follow.
 */
static bool is_second_field(const struct frame_log *log, int64_t position, int64_t count)
{
    const struct frame_row *const row = row_at(log, position);
    if (row->out || position == 0)
        return false;
    const struct frame_row *const first = row_at(log, position - 1);
    if (!first->out || !first->interlaced || first->segment != row->segment || (row->unwanted && !first->unwanted))
        return false;
    for (int64_t later = position + MERGE_DISTANCE; later < count; later++) {
        const struct frame_row *const next = row_at(log, later);
        if (next->segment != row->segment)
            return false;
        if (next->out)
            return true;
    }
    return true;
}

/* With codec threads, nothing is known of the second packet alone. */
static void merge_field(struct frame_record *picture, const struct frame_record *field)
{
    picture->size_bytes += field->size_bytes;
    if (field->degraded == DEGRADED_ITSELF || picture->degraded == DEGRADED_NOT)
        picture->degraded = field->degraded;
    if (field->decode_end_ns != FIELD_EMPTY)
        picture->decode_end_ns = field->decode_end_ns;
    if (field->decode_cpu_ns != FIELD_EMPTY && picture->decode_cpu_ns != FIELD_EMPTY)
        picture->decode_cpu_ns += field->decode_cpu_ns;
    if (picture->fired_ns == FIELD_EMPTY)
        picture->fired_ns = field->fired_ns;
}

struct sort_key {
    int segment;
    int64_t pts_ns;
    int64_t position;
};

struct sorted_row {
    struct sort_key key;
    struct frame_record record;
};

static int compare_rows(const void *a, const void *b)
{
    const struct sort_key *const x = &((const struct sorted_row *)a)->key;
    const struct sort_key *const y = &((const struct sorted_row *)b)->key;
    if (x->segment != y->segment)
        return x->segment < y->segment ? -1 : 1;
    if (x->pts_ns != y->pts_ns)
        return x->pts_ns < y->pts_ns ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

static int64_t collect(const struct frame_log *log, struct sorted_row *sorted, int64_t count)
{
    int64_t taken = 0;
    for (int64_t i = 0; i < count; i++) {
        const struct frame_row *const row = row_at(log, i);
        if (row->record.decode_start_ns == FIELD_EMPTY && !row->out)
            continue;
        if (taken && is_second_field(log, i, count)) {
            merge_field(&sorted[taken - 1].record, &row->record);
            continue;
        }
        sorted[taken] = (struct sorted_row){{row->segment, row->record.pts_ns, i}, row->record};
        if (!row->out || row->unwanted) /* the gate gave its verdict before this was known */
            sorted[taken].record.verdict = VERDICT_NONE;
        taken++;
    }
    return taken;
}

int64_t frame_log_finish(const struct frame_log *log, struct frame_record **rows)
{
    const int64_t count = log->keep ? atomic_load(&log->count) : 0;
    struct sorted_row *sorted = malloc((size_t)(count + 1) * sizeof *sorted);
    struct frame_record *records = malloc((size_t)(count + 1) * sizeof *records);
    int64_t taken = -ENOMEM;
    if (!sorted || !records)
        goto out;
    taken = collect(log, sorted, count);
    qsort(sorted, (size_t)taken, sizeof *sorted, compare_rows);
    for (int64_t i = 0; i < taken; i++) {
        records[i] = sorted[i].record;
        records[i].index = i;
    }
    *rows = records;
    records = NULL;
out:
    free(sorted);
    free(records);
    return taken;
}
