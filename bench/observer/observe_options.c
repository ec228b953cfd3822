/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observe_options.h"

#include "build_facts.h"
#include "shown_value.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_BAD_OPTION = 1 };

enum key { SCREEN = 256, SIZE, RATE, SOUND, FRAMES, FRAME_NS, FIRST_PTS_NS, MEDIA, OUT, CPU };

static const char doc[] =
    "Watches a player from outside. Records when each picture of a stamped clip was on the screen of an Xvfb. From "
    "the clip's tones in the monitor of a PulseAudio sink it measures how far picture and sound were apart. Prints "
    "\"observing\" when it is ready. SIGTERM or SIGINT ends it; then it writes run.json, frames.csv, screen.csv and "
    "sound.csv.\v"
    "Exit status: 0 written, 1 bad option or set-up, 2 nothing was observed: no stamped picture came, or the X server "
    "or the sound server was lost.";

static const struct argp_option option_table[] = {
    {"screen", SCREEN, "FILE", 0, "the Xvfb_screen0 in the directory of Xvfb -fbdir", 0},
    {"media", MEDIA, "CLIP", 0, "the stamped clip that is played (media/make stamped_small, …)", 0},
    {"out", OUT, "DIR", 0, "where the record goes", 0},
    {"sound", SOUND, "SOURCE", 0, "listen to this PulseAudio source, such as SINK.monitor", 0},
    {"size", SIZE, "WxH", 0, "the picture on the screen, from its upper left corner on; default: as in the clip", 0},
    {"rate", RATE, "HZ", 0, "how often it looks at the screen per second; default 2000", 0},
    {"frames", FRAMES, "N", 0, "number of pictures that are to be played; default: all, from the first on", 0},
    {"first-pts-ns", FIRST_PTS_NS, "NS", 0, "time stamp of the first picture to be played", 0},
    {"frame-ns", FRAME_NS, "NS", 0, "refuse a clip whose pictures have another duration", 0},
    {"cpu", CPU, "N", 0, "run on this CPU", 0},
    {0},
};

static double number(struct argp_state *state, const char *option, const char *text, double least, double greatest)
{
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    if (errno || end == text || *end || !(value >= least && value <= greatest))
        argp_error(state, "--%s=%s is not a number from %.15g to %.15g", option, shown_value(text), least, greatest);
    return value;
}

static int64_t whole_number(struct argp_state *state, const char *option, const char *text, double greatest)
{
    const double value = number(state, option, text, 0, greatest);
    if (value != floor(value))
        argp_error(state, "--%s=%s is not a whole number", option, shown_value(text));
    return (int64_t)value;
}

static void take_size(struct observe_options *options, struct argp_state *state, const char *text)
{
    int read = 0;
    if (sscanf(text, "%5dx%5d%n", &options->width, &options->height, &read) < 2 || text[read] || options->width < 1 ||
        options->height < 1)
        argp_error(state, "--size=%s is not a size such as 1920x1080", shown_value(text));
}

static void require_all(const struct observe_options *options, struct argp_state *state)
{
    if (!options->screen_path || !options->media_path || !options->out_dir)
        argp_error(state, "--screen, --media and --out are needed");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct observe_options *const options = state->input;
    switch (key) {
    case SCREEN: options->screen_path = arg; break;
    case MEDIA: options->media_path = arg; break;
    case OUT: options->out_dir = arg; break;
    case SOUND: options->sound = arg; break;
    case SIZE: take_size(options, state, arg); break;
    case RATE: options->rate_hz = number(state, "rate", arg, 1, 100000); break;
    case FRAMES: options->frames = whole_number(state, "frames", arg, 1e9); break;
    case FIRST_PTS_NS: options->first_pts_ns = whole_number(state, "first-pts-ns", arg, 1e15); break;
    case FRAME_NS: options->frame_ns = whole_number(state, "frame-ns", arg, 1e12); break;
    case CPU: options->cpu = (int)whole_number(state, "cpu", arg, CPU_SETSIZE - 1); break;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument %s", shown_value(arg)); break;
    case ARGP_KEY_END: require_all(options, state); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

void observe_options_parse(struct observe_options *options, int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
    *options = (struct observe_options){.rate_hz = 2000, .cpu = -1};
    /* Assigned here, because the player's own definition is linked in. */
    argp_program_version = "dlex-bench-observe " PROGRAM_VERSION " (" DLEX_COMMIT ")";
    argp_err_exit_status = EXIT_BAD_OPTION;
    argv[0] = "dlex-bench-observe"; /* instead of the path by which it was called */
    shown_option_names(argv, false);
    argp_parse(&argp, argc, argv, 0, NULL, options);
}
