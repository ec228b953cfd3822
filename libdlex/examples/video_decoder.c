/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A video decoder that is never late. Each frame has a deadline, the moment at which it must be on the
 * screen. The decoder itself has a WCET, the CPU time that it may use for one frame. A frame that
 * breaks either limit is given up, and the previous picture stays on the screen (seed 000, 3.1 and
 * 5.2).
 */
#include <stdio.h>
#include <time.h>

#include <dlex/dlex.h>

#define PERIOD_NS (DLEX_MS(25))
#define WCET_NS (DLEX_MS(5))
enum { WIDTH = 160, HEIGHT = 90, FRAMES = 50 };

struct frame {
    int passes;      /* how much there is to decode */
    int64_t wait_ns; /* how long its data takes to arrive */
};

struct picture {
    unsigned char luma[HEIGHT][WIDTH];
};

/* Most frames are easy. Every tenth is far too much for its WCET; every tenth comes too late. */
static struct frame parse_stream(int number)
{
    struct frame f = { .passes = 20 + number % 7 };
    if (number % 10 == 4)
        f.passes = 1000 * 1000;
    if (number % 10 == 8)
        f.wait_ns = 5 * PERIOD_NS;
    return f;
}

static void wait_until(int64_t time_ns)
{
    const struct timespec t = { .tv_sec = time_ns / 1000000000, .tv_nsec = time_ns % 1000000000 };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
        ; /* EINTR: a signal woke the thread, perhaps of a deadline that was met long ago */
}

static void decode_picture(const struct frame *f, struct picture *out)
{
    for (int pass = 0; pass < f->passes; pass++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                out->luma[y][x] = (unsigned char)(out->luma[y][x] / 2 + x * y + pass);
}

/* The caller of this decoder knows how much CPU time it takes at most. The decoder has no handler: the
 * violation goes on to the caller. Waiting uses no CPU time; the caller's deadline limits it. */
static void decode_frame(const struct frame *f, struct picture *out)
{
    dlex_try_within_wcet(WCET_NS) {
        wait_until(dlex_now_ns() + f->wait_ns);
        decode_picture(f, out);
    } dlex_end
}

/* Returns '.' if the picture is whole; 'W' or 'D' if it was given up, over its WCET or past its
 * deadline. This is a function of its own, so that few local variables live across the block. */
static char decode_in_time(const struct frame *f, struct picture *out, int64_t pts_ns)
{
    volatile char outcome = '?'; /* volatile: set in the block, read after it */
    dlex_try_within_abs(pts_ns) {
        decode_frame(f, out);
        outcome = '.'; /* the last thing in the body */
    } dlex_handle dlex_when(dlex_wcet_violation) {
        outcome = 'W';
    } dlex_when(dlex_deadline_violation) {
        outcome = 'D';
    } dlex_end
    return outcome;
}

int main(void)
{
    static struct picture pictures[2];
    int on_screen = 0, shown = 0, overran = 0, late = 0;
    int64_t pts_ns = dlex_now_ns();

    for (int i = 0; i < FRAMES; i++) {
        const struct frame f = parse_stream(i);
        pts_ns += PERIOD_NS;
        const char outcome = decode_in_time(&f, &pictures[!on_screen], pts_ns);
        if (outcome == '.')
            on_screen = !on_screen;
        shown += outcome == '.';
        overran += outcome == 'W';
        late += outcome == 'D';
        putchar(outcome); /* outside the block: stdio must not be interrupted */
        dlex_idle();
        wait_until(pts_ns);
    }
    printf("\n%d frames: %d shown, %d over their WCET (W), %d past their deadline (D)\n", FRAMES,
           shown, overran, late);
    printf("%d times the picture before stayed; brightness of the last one: %d\n", overran + late,
           pictures[on_screen].luma[HEIGHT / 2][WIDTH / 2]);
    return 0;
}
