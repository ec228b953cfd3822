/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pass_difference.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 4)))
static void note(struct differences *sum, int64_t *count, const char *format, ...)
{
    (*count)++;
    if (sum->first[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(sum->first, sizeof(sum->first), format, args);
    va_end(args);
}

static bool is_given_up(const struct decode_pass *pass, const struct fingerprint *picture)
{
    return picture->packet >= 0 && pass->records[picture->packet].given_up;
}

static void compare_place(struct differences *sum, size_t index, const struct fingerprint *expected,
                          const struct fingerprint *got)
{
    if (got->pts != expected->pts || got->packet != expected->packet || got->type != expected->type ||
        got->width != expected->width || got->height != expected->height || got->droppable != expected->droppable)
        note(sum, &sum->order, "picture %zu is of packet %" PRId64 ", not %" PRId64 ", time %" PRId64 ", not %" PRId64
             ", type %d, not %d, droppable %d, not %d", index, got->packet, expected->packet, got->pts, expected->pts,
             got->type, expected->type, got->droppable, expected->droppable);
}

static void compare_picture(struct differences *sum, size_t index, const struct fingerprint *expected,
                            const struct fingerprint *got, bool given_up, enum comparison comparison)
{
    compare_place(sum, index, expected, got);
    if (got->abandoned != given_up)
        note(sum, &sum->marks, "picture %zu was%s given up, but is%s marked", index, given_up ? "" : " not",
             got->abandoned ? "" : " not");
    if (got->abandoned && !got->droppable)
        note(sum, &sum->marks, "picture %zu is a reference, but marked", index);
    if (comparison == COMPARE_ORDER)
        return;
    if (got->damaged != expected->damaged)
        note(sum, &sum->marks, "picture %zu is%s reported as damaged", index, got->damaged ? "" : " not");
    const bool samples = !memcmp(got->hash.samples, expected->hash.samples, sizeof(got->hash.samples));
    const bool side_data = comparison != COMPARE_ALL ||
        !memcmp(got->hash.side_data, expected->hash.side_data, sizeof(got->hash.side_data));
    if (!got->abandoned && !(samples && side_data))
        note(sum, &sum->wrong, "picture %zu (packet %" PRId64 ", type %d) has other %s", index, got->packet, got->type,
             samples ? "side data" : "samples");
}

/* No captions of a withheld picture may come out with another one, whatever libdav1d does with those of the others. */
static void look_for_withheld_captions(struct differences *sum, const struct decode_pass *pass)
{
    for (size_t i = 0; i < pass->picture_count; i++) {
        const int captions = pass->pictures[i].captions;
        if (captions >= 0 && pass->records[captions].given_up)
            note(sum, &sum->wrong, "picture %zu has the captions of packet %d, which was withheld", i, captions);
    }
}

/* Skips, in the undisturbed pass, the pictures that were withheld from the other. */
static size_t next_expected(const struct decode_pass *undisturbed, const struct decode_pass *pass, size_t index)
{
    while (pass->mode.way == WAY_WITHHOLD && index < undisturbed->picture_count &&
           is_given_up(pass, &undisturbed->pictures[index]))
        index++;
    return index;
}

static bool came_out(const struct decode_pass *pass, int64_t packet)
{
    for (size_t i = 0; i < pass->picture_count; i++)
        if (pass->pictures[i].packet == packet)
            return true;
    return false;
}

/* Returns how many withheld packets the undisturbed pass may have rejected: those whose picture did not come out there. */
static int64_t count_withheld_rejections(const struct decode_pass *undisturbed, const struct decode_pass *pass)
{
    int64_t count = 0;
    if (pass->mode.way == WAY_WITHHOLD && undisturbed->rejected_count)
        for (size_t i = 0; i < pass->packet_count; i++)
            count += pass->records[i].given_up && !came_out(undisturbed, (int64_t)i);
    return count;
}

static void compare_rejections(struct differences *sum, const struct decode_pass *undisturbed, const struct decode_pass *pass)
{
    const int64_t fewer = undisturbed->rejected_count - pass->rejected_count;
    if (fewer < 0 || fewer > count_withheld_rejections(undisturbed, pass))
        note(sum, &sum->order, "%" PRId64 " packets were rejected; undisturbed, %" PRId64, pass->rejected_count,
             undisturbed->rejected_count);
}

void pass_compare(struct differences *sum, const struct decode_pass *undisturbed, const struct decode_pass *pass,
                  enum comparison comparison)
{
    size_t expected = next_expected(undisturbed, pass, 0);
    size_t got = 0;
    while (expected < undisturbed->picture_count && got < pass->picture_count) {
        const struct fingerprint *const picture = &pass->pictures[got];
        compare_picture(sum, got, &undisturbed->pictures[expected], picture,
                        pass->mode.way != WAY_WITHHOLD && is_given_up(pass, picture), comparison);
        expected = next_expected(undisturbed, pass, expected + 1);
        got++;
    }
    if (pass->mode.way == WAY_WITHHOLD)
        look_for_withheld_captions(sum, pass);
    if (expected < undisturbed->picture_count || got < pass->picture_count)
        note(sum, &sum->order, "%zu pictures came out; undisturbed, %zu", pass->picture_count, undisturbed->picture_count);
    compare_rejections(sum, undisturbed, pass);
    if (pass->stray_count)
        note(sum, &sum->strays, "the decoder asked about a picture that it must not give up");
    if (comparison != COMPARE_ORDER && pass->log_count != undisturbed->log_count)
        note(sum, &sum->reports, "the decoder logged %" PRId64 " messages; undisturbed, %" PRId64, pass->log_count,
             undisturbed->log_count);
}

int64_t differences_count(const struct differences *differences)
{
    return differences->wrong + differences->order + differences->marks + differences->strays + differences->reports;
}
