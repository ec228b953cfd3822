/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of dlex-bench-sim. */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include "clairvoyant.h"
#include "playing.h"

#include <stdbool.h>
#include <stdint.h>

enum sim_supply {
    SIM_SUPPLY_RESERVATION, /* one for both threads */
    SIM_SUPPLY_DIVIDED,     /* a reservation, divided between the threads as dlex-play does it */
    SIM_SUPPLY_QUOTA,
    SIM_SUPPLY_BURSTS,      /* a fair share, beside programs that are busy now and then */
    SIM_SUPPLY_PART,
    SIM_SUPPLY_MACHINE,     /* a fair share of several CPUs, beside programs that always compute */
};

struct sim_options {
    const char *trace_path;
    const char *rows_path;     /* NULL: not wanted */
    bool is_clairvoyant;
    struct clairvoyant_settings clairvoyant;
    struct playing_setting playing; /* without film, costs and supplies */
    int64_t clairvoyant_tolerance_ns;
    enum sim_supply supply;
    const char *supply_text;   /* the word of --supply */
    int64_t budget_ns;         /* of a reservation or a quota */
    int64_t period_ns;
    double part;               /* of SIM_SUPPLY_PART */
    int64_t idle_ns;           /* of SIM_SUPPLY_BURSTS */
    bool is_alone;             /* no rt-app runs beside a reservation or a quota */
    double demand;             /* costs are scaled so that decoding and presenting want this part of the supply; 0: no */
    double scale;              /* costs are multiplied by this */
    double noise;              /* s.d. of each cost, relative */
    double speed;              /* the whole run is faster or slower by at most this, relative */
    int runs;
    int64_t seed;
};

/* Parses the command line. Exits with status 1 after a wrong option, and with 0 after --help. Strings belong to argv. */
struct sim_options sim_options_parse(int argc, char **argv);

#endif
