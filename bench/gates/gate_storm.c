/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gate_storm.h"

enum { FILL_UNDISTURBED = 0x5a };

static int64_t wanted_so_far(const struct gate_storm *storm)
{
    return storm->mode.way == WAY_WITHHOLD ? storm->refused : storm->interrupted;
}

/* Decodes one pass, compares it, and adds it up. The caller finishes the pass. */
static int run_pass(struct gate_storm *storm, const struct decode_pass *undisturbed, struct decode_pass *pass)
{
    pass->mode = storm->mode;
    pass->seek = storm->seek;
    pass->fill = storm->is_whole ? (uint8_t)(37 * (storm->passes + 1)) : FILL_UNDISTURBED;
    pass->is_strict = storm->is_strict;
    const int ret = pass_decode(pass, storm->stream);
    if (ret < 0)
        return ret;
    const bool is_limited = storm->misplaces_captions && storm->comparison == COMPARE_ALL;
    pass_compare(&storm->differences, undisturbed, pass, is_limited ? COMPARE_SAMPLES : storm->comparison);
    const struct given_up_count count = pass_count_given_up(pass);
    storm->passes++;
    storm->interrupted += count.interrupted;
    storm->refused += count.refused;
    storm->compared += (int64_t)(pass->picture_count - pass_count_abandoned(pass));
    return 0;
}

static size_t count_asked(const struct decode_pass *pass)
{
    size_t count = 0;
    for (size_t i = 0; i < pass->packet_count; i++)
        count += pass->records[i].asks > 0;
    return count;
}

static int run_random_passes(struct gate_storm *storm, const struct decode_pass *undisturbed,
                             const struct decode_pass *open)
{
    int ret = 0;
    for (int i = 0; ret >= 0 && i < storm->most_passes && wanted_so_far(storm) < storm->wanted; i++) {
        struct decode_pass pass = {
            .policy = PASS_RANDOM,
            .seed = (storm->seed + (uint64_t)i) * 0x9E3779B97F4A7C15u | 1, /* xorshift must not start at 0 */
            /* Deadlines are random, up to the mean length of a run, so most of them pass inside a run. */
            .longest_run_ns = open->run_count ? open->run_total_ns / open->run_count : 0,
            .open = open->records,
        };
        ret = run_pass(storm, undisturbed, &pass);
        pass_finish(&pass);
    }
    return ret;
}

static int run_disturbed(struct gate_storm *storm, const struct decode_pass *undisturbed)
{
    struct decode_pass open = {.policy = PASS_OPEN};
    struct decode_pass refuse = {.policy = PASS_REFUSE};
    int ret = run_pass(storm, undisturbed, &open);
    if (ret >= 0)
        storm->droppable = storm->mode.way == WAY_WITHHOLD ? count_asked(&open)
                                                           : pass_count_droppable(&open);
    if (ret >= 0 && storm->droppable)
        ret = run_pass(storm, undisturbed, &refuse);
    if (ret >= 0 && storm->droppable)
        ret = run_random_passes(storm, undisturbed, &open);
    pass_finish(&refuse);
    pass_finish(&open);
    return ret;
}

int gate_storm_run(struct gate_storm *storm)
{
    struct decode_pass undisturbed = {
        .mode = storm->mode, .policy = PASS_PLAIN, .seek = storm->seek, .fill = FILL_UNDISTURBED,
        .is_strict = storm->is_strict,
    };
    int ret = pass_decode(&undisturbed, storm->stream);
    storm->pictures = undisturbed.picture_count;
    /* Where misplaced captions go depends on what is withheld: those of the next unit would have replaced them. */
    storm->misplaces_captions = storm->mode.way == WAY_WITHHOLD && pass_misplaces_captions(&undisturbed);
    if (ret >= 0 && !storm->is_undisturbed)
        ret = run_disturbed(storm, &undisturbed);
    pass_finish(&undisturbed);
    return ret;
}

int64_t gate_storm_aborts(const struct gate_storm *storm)
{
    return storm->interrupted + storm->refused;
}
