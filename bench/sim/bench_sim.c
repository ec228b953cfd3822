/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dlex-bench-sim: simulates playing a film in virtual time. See sim_options.c for what it does, and ./dlex bench simulate. */
#include "output_paths.h"
#include "sim_report.h"
#include "standard_output.h"
#include "whole_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum exit_code { EXIT_DONE = 0, EXIT_SETUP = 1, EXIT_UNUSABLE = 2 };

static enum exit_code complain(enum exit_code code, const char *what, int error)
{
    fprintf(stderr, "dlex-bench-sim: %s%s%s\n", what, error ? ": " : "", error ? strerror(-error) : "");
    return code;
}

static int write_rows(const char *path, const struct frame_record *rows, int count)
{
    struct whole_file file;
    int ret = whole_file_open(&file, path);
    if (ret)
        return ret;
    frame_record_write_header(file.out);
    for (int i = 0; i < count; i++)
        frame_record_write(file.out, &rows[i]);
    return whole_file_commit(&file);
}

static int add_runs(json_t *report, const struct sim_options *options, const struct sim_film *film,
                    struct frame_record *rows)
{
    json_t *const runs = json_array();
    int ret = json_object_set_new(report, "runs", runs) ? -ENOMEM : 0;
    for (int i = 0; !ret && i < options->runs; i++) {
        struct sim_figures figures;
        ret = sim_run(&figures, options, film, options->seed + i, rows);
        if (!ret && json_array_append_new(runs, sim_report_run(&figures)))
            ret = -ENOMEM;
        if (!ret && i == 0 && options->rows_path)
            ret = write_rows(options->rows_path, rows, film->count);
    }
    return ret;
}

static enum exit_code simulate(const struct sim_options *options, const struct sim_film *film)
{
    struct frame_record *const rows = malloc((size_t)film->count * sizeof *rows);
    json_t *const report = sim_report_begin(options, film);
    int ret = rows && report ? add_runs(report, options, film, rows) : -ENOMEM;
    if (!ret && json_dumpf(report, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) && !ferror(stdout))
        ret = -ENOMEM; /* what standard output loses is reported when the program ends */
    if (!ret)
        putchar('\n');
    json_decref(report);
    free(rows);
    return ret ? complain(EXIT_SETUP, "the result cannot be made or written", ret) : EXIT_DONE;
}

int main(int argc, char **argv)
{
    standard_output_begin("dlex-bench-sim", EXIT_SETUP);
    const struct sim_options options = sim_options_parse(argc, argv);
    const struct named_path outputs[] = {{"--rows", options.rows_path}, {NULL, NULL}};
    const struct named_path inputs[] = {{"trace", options.trace_path}, {NULL, NULL}};
    if (!output_paths_check("dlex-bench-sim", outputs, inputs) || !output_paths_try("dlex-bench-sim", options.rows_path))
        return EXIT_SETUP;
    char why[PATH_MAX + 256];
    struct decode_trace trace;
    if (decode_trace_read(&trace, options.trace_path, why, sizeof why))
        return complain(EXIT_UNUSABLE, why, 0);
    struct sim_film film;
    const int ret = sim_film_init(&film, &trace);
    enum exit_code code = EXIT_UNUSABLE;
    if (ret == -EINVAL)
        complain(code, "the pictures of the trace are further out of order than a decoder can put right", 0);
    else if (ret == -ENODATA)
        complain(code, "the trace lacks the error of a picture; make it with dlex-qoe --trace", 0);
    else if (ret)
        complain(code, "the trace cannot be used", ret);
    else if (options.demand > 0 && sim_film_mean_cost_ns(&film) <= 0)
        complain(code, "no decode of the trace takes CPU time, so --demand cannot scale it", 0);
    else
        code = simulate(&options, &film);
    sim_film_finish(&film);
    decode_trace_finish(&trace);
    return code;
}
