/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlex-pictures: processes of a graph that work on the pictures of a clip, for the examples and experiments of PMan. It is one
 * program with many roles; a role is a process.
 */
#include "picture_roles.h"
#include "picture_source.h"
#include "png_packet.h"
#include "pman.h"
#include "rate_text.h"
#include "shown_value.h"
#include "standard_output.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_DONE = 0, EXIT_USAGE = 1, EXIT_IMPOSSIBLE = 2 };

struct options {
    const char *table, *process;
    const char *role;
    const char *clip;         /* of read; NULL: a test picture */
    int width, height;
    double rate;
    const char *to;           /* of write */
    struct picture_job job;
};

static const char doc[] =
    "A process of a graph that works on pictures: ROLE says what it does in each instance.\v"
    "read plays a clip with the ffmpeg program, as a camera: it gives a tick at each picture, and then stores the picture.\n"
    "\n"
    "Exit status: 0 the table was closed, 1 wrong option, 2 it cannot go on.";

static const struct argp_option option_table[] = {
    {"table", 't', "NAME", 0, "the table (DLEX_PMAN)", 0},
    {"process", 'n', "NAME", 0, "the process's name in it (DLEX_PMAN_PROCESS)", 0},
    {"clip", 'c', "FILE", 0, "read: the film; none or empty: a test picture", 0},
    {"size", 's', "WxH", 0, "read: size of the pictures (640x480)", 0},
    {"rate", 'r', "HZ", 0, "read: pictures per second, such as 25 or 30000/1001 (30)", 0},
    {"part", 'p', "K/N", 0, "classify: part K of N, from 0 on", 0},
    {"object", 'o', "N", 0, "track: which object", 0},
    {"work", 'w', "MS", 0, "work: CPU time of an instance", 0},
    {"to", 'f', "FILE", 0, "write: the film (Matroska)", 0},
    {0},
};

static char *list_roles(int key, const char *text, void *unused)
{
    (void)unused;
    if (key != ARGP_KEY_HELP_PRE_DOC)
        return (char *)text;
    char *list = NULL;
    size_t size;
    FILE *const stream = open_memstream(&list, &size);
    if (!stream)
        return (char *)text;
    fprintf(stream, "%s\n\n  read       give a tick at each picture of a clip, and store it", text);
    for (const struct picture_role *role = picture_roles; role->name; role++)
        fprintf(stream, "\n  %-11s%s", role->name, role->purpose);
    fclose(stream);
    return list;
}

static void parse_pair(const char *arg, const char *form, int *first, int *second, struct argp_state *state)
{
    int end = 0;
    if (sscanf(arg, form, first, second, &end) != 2 || arg[end])
        argp_error(state, "%s is not a pair of numbers as in --help", shown_value(arg));
}

static double parse_positive(const char *arg, struct argp_state *state)
{
    char *end;
    const double value = strtod(arg, &end);
    if (end == arg || *end || !(value > 0 && value < 1e6))
        argp_error(state, "%s is not a positive number", shown_value(arg));
    return value;
}

static void check(const struct options *options, struct argp_state *state)
{
    if (!options->role)
        argp_error(state, "a role is missing");
    if (!options->table || !options->process)
        argp_error(state, "--table and --process are missing, and DLEX_PMAN and DLEX_PMAN_PROCESS are not set");
    if (!strcmp(options->role, "write") && !options->to)
        argp_error(state, "write needs --to=FILE");
    if (strcmp(options->role, "write") && options->to)
        argp_error(state, "--to is for write only");
    if (options->job.part < 0 || options->job.part >= options->job.parts)
        argp_error(state, "--part needs 0 <= K < N");
    if (options->job.object < 0 || options->job.object >= PICTURE_OBJECTS)
        argp_error(state, "--object is from 0 to %d", PICTURE_OBJECTS - 1);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *const options = state->input;
    switch (key) {
    case 't': options->table = arg; break;
    case 'n': options->process = arg; break;
    case 'c': options->clip = *arg ? arg : NULL; break;
    case 's': parse_pair(arg, "%dx%d%n", &options->width, &options->height, state); break;
    case 'r':
        if (!rate_text_parse(arg, &options->rate) || options->rate >= 1e6)
            argp_error(state, "--rate=%s is not a rate such as 30 or 30000/1001", shown_value(arg));
        break;
    case 'p': parse_pair(arg, "%d/%d%n", &options->job.part, &options->job.parts, state); break;
    case 'o': options->job.object = atoi(arg); break;
    case 'w': options->job.work_ms = parse_positive(arg, state); break;
    case 'f': options->to = arg; break;
    case ARGP_KEY_ARG:
        if (options->role)
            argp_error(state, "%s is one argument too many", shown_value(arg));
        options->role = arg;
        break;
    case ARGP_KEY_END: check(options, state); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct picture_role *find_role(const char *name)
{
    for (const struct picture_role *role = picture_roles; role->name; role++)
        if (!strcmp(role->name, name))
            return role;
    return NULL;
}

static int fail(const char *what, int error)
{
    fprintf(stderr, "dlex-pictures: %s: %s\n", what, strerror(-error));
    return EXIT_IMPOSSIBLE;
}

/* Joins the table if nobody has attached this process. */
static int join(struct pman **pman, const struct options *options)
{
    struct pman_statistics statistics;
    int error = pman_open(pman, options->table);
    if (!error)
        error = pman_query(*pman, options->process, &statistics);
    if (error || statistics.pid == getpid())
        return error;
    return pman_attach(*pman, options->process, getpid(), PMAN_BY_FUTEX);
}

/* A camera that was started again has made a new store. */
static int follow_store(struct options *options)
{
    struct picture_store **const store = &options->job.store;
    if (!*store || picture_store_is_current(*store))
        return 0;
    picture_store_close(*store);
    *store = NULL;
    return picture_store_open(store, options->table);
}

static int run_role(const struct picture_role *role, struct pman *pman, struct options *options)
{
    int error = 0, ret = 0;
    while (!ret && (error = pman_wait(pman, options->process)) == 0) {
        ret = follow_store(options);
        if (!ret)
            ret = role->run(&options->job);
        pman_epilogue(pman, options->process);
    }
    if (ret)
        return fail(role->name, ret);
    return error == -ESHUTDOWN || error == -ESRCH ? EXIT_DONE : fail("pman_wait", error);
}

/* A camera: pictures come when they come. */
static int run_camera(struct pman *pman, const struct options *options, struct picture_store *store)
{
    struct picture_source source = {0};
    const size_t size = picture_store_picture_size(store);
    int error = picture_source_open(&source, options->clip, options->width, options->height, options->rate);
    while (!error) {
        const int64_t number = store->number + 1;
        error = picture_source_read(&source, picture_store_luma(store, number), size);
        if (!error)
            error = pman_tick(pman, 0);
        if (!error)
            error = pman_wait(pman, options->process);
        if (!error) {
            __atomic_store_n(&store->number, number, __ATOMIC_RELEASE); /* with the successors, which PMan activates now */
            error = pman_epilogue(pman, options->process);
        }
    }
    picture_source_close(&source);
    return error == -ESHUTDOWN || error == -ESRCH ? EXIT_DONE : fail("reading pictures", error);
}

static int read_pictures(struct pman *pman, struct options *options)
{
    const int error = picture_store_create(&options->job.store, options->table, options->width, options->height);
    if (error)
        return fail("the store of the pictures", error);
    const int code = run_camera(pman, options, options->job.store);
    picture_store_remove(options->table);
    return code;
}

static int write_film(const struct picture_role *role, struct pman *pman, struct options *options)
{
    struct picture_file film = {0};
    const struct picture_store *const store = options->job.store;
    int error = picture_file_open(&film, options->to, png_packet_width(store->width), store->height);
    if (error)
        return fail(options->to, error);
    options->job.file = &film;
    const int code = run_role(role, pman, options);
    error = picture_file_close(&film);
    return error ? fail(options->to, error) : code;
}

static int work_on_pictures(const struct picture_role *role, struct pman *pman, struct options *options)
{
    const int error = role->needs_store ? picture_store_open(&options->job.store, options->table) : 0;
    if (error)
        return fail("there are no pictures; is a process of the graph `dlex-pictures read`?", error);
    return options->to ? write_film(role, pman, options) : run_role(role, pman, options);
}

int main(int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, "ROLE", doc, NULL, list_roles, NULL};
    struct options options = {
        .table = getenv("DLEX_PMAN"), .process = getenv("DLEX_PMAN_PROCESS"), .width = 640, .height = 480, .rate = 30,
        .job = {.parts = 1},
    };
    struct pman *pman = NULL;
    standard_output_begin("dlex-pictures", EXIT_IMPOSSIBLE);
    argp_err_exit_status = EXIT_USAGE;
    argv[0] = "dlex-pictures"; /* instead of the path by which it was called */
    shown_option_names(argv, false);
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    const struct picture_role *const role = find_role(options.role);
    const bool is_camera = !strcmp(options.role, "read");
    if (!role && !is_camera) {
        fprintf(stderr, "dlex-pictures: there is no role %s; see --help\n", shown_value(options.role));
        return EXIT_USAGE;
    }
    const int error = join(&pman, &options);
    const int code = error ? fail(options.table, error) : is_camera ? read_pictures(pman, &options)
                                                                    : work_on_pictures(role, pman, &options);
    if (options.job.store)
        picture_store_close(options.job.store);
    pman_leave(&pman);
    return code;
}
