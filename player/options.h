/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user asked for on the command line. */
#ifndef PLAYER_OPTIONS_H
#define PLAYER_OPTIONS_H

#include "ns.h"
#include "placement.h"
#include "queue_wish.h"
#include "policy.h"
#include "threads_wish.h"

#include <stdbool.h>
#include <stdint.h>

/* Policy vlc refuses nearly every droppable picture that is not well ahead. */
#define OPTIONS_VLC_QUEUE_MIN_NS (200 * NS_PER_MS)

struct options {
    char **files;
    int file_count;
    const char *audio_kind; /* "auto", "pulse" or "null" */
    const char *video_kind; /* "auto", "sdl" or "null" */
    struct policy_settings policy;
    struct placement placement;
    struct queue_wish queue;
    struct threads_wish threads;
    int64_t start_ns;  /* from the beginning of the file */
    int64_t length_ns; /* 0: to the end */
    bool untimed;
    bool quiet;
    const char *framemd5_path; /* NULL: not wanted */
    const char *record_dir;    /* NULL: not wanted */
    const char *tick_table;    /* of PMan; NULL: none */
};

/*
 * Fills *options from the command line; strings point into argv. For help, version or --codecs, prints it and exits with 0.
 * On an error, also if that cannot be printed, prints a sentence about it and exits with 1, as argp does.
 */
void options_parse(struct options *options, int argc, char **argv);

/* Returns what the options say about the place of the decode threads: is_serial and has_reservation. The rest is 0. */
struct threads_place options_threads_place(const struct options *options);

/* Return the command line's word for the policy or the rule. */
const char *drop_policy_name(enum drop_policy policy);
const char *deadline_rule_name(enum deadline_rule rule);

#endif
