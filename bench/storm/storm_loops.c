/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "storm_loops.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>

#include <dlex/dlex.h>

#include "heap_ledger.h"
#include "storm_shared.h"

const char *const storm_kind_names[STORM_KINDS] = { "heap", "scoped", "stdio", "locks", "compute" };

struct storm_faults storm_faults;

uint32_t storm_random(struct storm_tools *tools)
{
    uint32_t r = tools->random;
    r ^= r << 13;
    r ^= r >> 17;
    r ^= r << 5;
    tools->random = r;
    return r;
}

int storm_tools_init(struct storm_tools *tools, uint32_t seed)
{
    *tools = (struct storm_tools){ .random = seed ? seed : 1 };
    tools->file = storm_record_file();
    tools->memory = open_memstream(&tools->memory_text, &tools->memory_size);
    if (tools->file && tools->memory)
        return 0;
    storm_tools_finish(tools);
    return -1;
}

void storm_tools_finish(struct storm_tools *tools)
{
    if (tools->file)
        fclose(tools->file);
    if (tools->memory)
        fclose(tools->memory);
    free(tools->memory_text);
    *tools = (struct storm_tools){ .random = 1 };
}

/* A piece of memory that knows its size and is marked at both ends. */
struct piece {
    uint32_t size, seal;
    unsigned char rest[];
};

static void seal(struct piece *piece, uint32_t size)
{
    if (!piece)
        return;
    piece->size = size;
    piece->seal = ~size;
    piece->rest[size - sizeof(*piece) - 1] = (unsigned char)size;
}

static void check(const struct piece *piece)
{
    if (piece && (piece->seal != ~piece->size
                  || piece->rest[piece->size - sizeof(*piece) - 1] != (unsigned char)piece->size))
        atomic_fetch_add(&storm_faults.damaged_memory, 1);
}

static uint32_t size_of(uint32_t r)
{
    return sizeof(struct piece) + 1 + r % (r % 64 ? 500 : 20000);
}

/* Makes libc allocate memory by itself, on behalf of its caller. */
static void make_text(uint32_t r)
{
    char *text = NULL;
    if (asprintf(&text, "%*u and %s", (int)(r % 300), r, "a piece of text") > 0)
        free(text);
}

enum { SLOTS = 16 };

static void heap_step(struct piece **slot, uint32_t r, uint32_t size)
{
    check(*slot);
    if (r % 4 == 0) {
        *slot = realloc(*slot, size);
    } else {
        free(*slot);
        if (r % 4 == 1)
            *slot = calloc(1, size);
        else if (r % 4 == 2)
            *slot = malloc(size);
        else
            *slot = aligned_alloc(64, (size + 63) / 64 * 64);
    }
    seal(*slot, size);
}

static void heap_loop(struct storm_tools *tools)
{
    struct piece *slots[SLOTS] = { NULL };
    for (;;) {
        const uint32_t r = storm_random(tools);
        heap_step(&slots[r / 16 % SLOTS], r, size_of(r / 256));
        if (r % 11 == 0)
            make_text(r);
    }
}

static void scoped_files(uint32_t r)
{
    if (r & 1) {
        const int fd = dlex_scoped_open("/dev/null", O_WRONLY, 0);
        dlex_scoped_close(fd);
    } else {
        FILE *const stream = dlex_scoped_fopen("/dev/null", "w");
        if (stream) {
            fprintf(stream, "%u", r);
            dlex_scoped_fclose(stream);
        }
    }
}

static void scoped_loop(struct storm_tools *tools)
{
    struct piece *slots[SLOTS] = { NULL };
    for (;;) {
        const uint32_t r = storm_random(tools);
        struct piece **const slot = &slots[r / 16 % SLOTS];
        check(*slot);
        if (r % 3 == 0) {
            *slot = dlex_scoped_realloc(*slot, size_of(r / 256));
        } else {
            dlex_scoped_free(*slot);
            *slot = dlex_scoped_malloc(size_of(r / 256));
        }
        seal(*slot, size_of(r / 256));
        if (r % 7 == 0)
            scoped_files(r / 8);
    }
}

static void format_and_scan(uint32_t r)
{
    char text[64];
    unsigned back = 0;
    snprintf(text, sizeof(text), "%s %u %.3f", "number", r, 0.5);
    if (sscanf(text, "%*s %u", &back) != 1 || back != r)
        atomic_fetch_add(&storm_faults.torn_records, 1);
}

static void stdio_loop(struct storm_tools *tools)
{
    for (;;) {
        const uint32_t r = storm_random(tools);
        switch (r % 8) {
        case 0: storm_record_write(tools->file, r); break;
        case 1: storm_record_read(tools->file, r); break;
        case 2: storm_shared_stream_step(r / 8); break;
        case 3: format_and_scan(r); break;
        case 4: fflush(tools->file); break;
        default:
            if (ftell(tools->memory) > 4000)
                rewind(tools->memory);
            fputs("text for a stream in memory\n", tools->memory);
        }
    }
}

static void locks_loop(struct storm_tools *tools)
{
    for (;;)
        storm_locks_step(storm_random(tools));
}

static void compute_loop(struct storm_tools *tools)
{
    volatile double x = 1 + tools->random;
    for (;;)
        x = x / 2 + 1 / x;
}

void storm_loop(enum storm_kind kind, struct storm_tools *tools)
{
    static void (*const loops[STORM_KINDS])(struct storm_tools *) = {
        heap_loop, scoped_loop, stdio_loop, locks_loop, compute_loop,
    };
    loops[kind](tools);
}

void storm_loop_entered(enum storm_kind kind)
{
    if (kind == STORM_HEAP)
        heap_ledger_open();
}

int storm_loop_left(enum storm_kind kind, struct storm_tools *tools)
{
    const int left = kind == STORM_HEAP ? heap_ledger_settle() : 0;
    if (kind == STORM_STDIO)
        storm_record_check(tools->file);
    if (dlex_guard_.depth != 0 || dlex_guard_.held != 0)
        atomic_fetch_add(&storm_faults.open_sections, 1);
    return left;
}
