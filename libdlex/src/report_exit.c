/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report that a process writes when it ends. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlex/within.h>

#include "report.h"

static void complain(const char *file, int err)
{
    fprintf(stderr, "libdlex: the benchmark report could not be written to %s: %s\n", file,
            strerror(-err));
}

static double miss_ratio(void)
{
    static const double usual = 0.01;
    const char *const text = secure_getenv("DLEX_BENCHMARK_MISS_RATIO");
    if (!text)
        return usual;
    char *end;
    const double ratio = strtod(text, &end);
    if (end != text && !*end && ratio > 0 && ratio < 1)
        return ratio;
    fprintf(stderr, "libdlex: DLEX_BENCHMARK_MISS_RATIO=%s is not a number between 0 and 1; "
            "%g is used\n", text, usual);
    return usual;
}

static enum dlex_benchmark_format format_of(const char *file)
{
    const size_t length = strlen(file);
    const bool json = length >= 5 && strcmp(file + length - 5, ".json") == 0;
    return json ? DLEX_BENCHMARK_JSON : DLEX_BENCHMARK_TEXT;
}

static int write_to(const char *file, const char *mode, enum dlex_benchmark_format format)
{
    FILE *const out = fopen(file, mode);
    if (!out)
        return -errno;
    const int err = dlex_benchmark_write(out, format, miss_ratio());
    return fclose(out) != 0 && !err ? -errno : err;
}

/* Writes a temporary file and renames it, so that the file appears when it is complete. */
static int replace(const char *file)
{
    char part[PATH_MAX];
    if (snprintf(part, sizeof(part), "%s.%d.part", file, (int)getpid()) >= (int)sizeof(part))
        return -ENAMETOOLONG;
    int err = write_to(part, "wxe", format_of(file));
    if (!err && rename(part, file) < 0)
        err = -errno;
    if (err && err != -EEXIST)
        unlink(part);
    return err;
}

/* A device, a pipe or a link (/dev/null, /dev/stdout) is written to, not replaced by a file. */
static int write_file(const char *file)
{
    struct stat status;
    if (lstat(file, &status) == 0 && !S_ISREG(status.st_mode))
        return write_to(file, "we", format_of(file));
    return replace(file);
}

void dlex_report_at_exit(void)
{
    /* exit may have been called in a block; its constraint ends here. */
    dlex_try_within_disable();
    const char *const file = secure_getenv("DLEX_BENCHMARK");
    if (!file || !*file || strcmp(file, "-") == 0) {
        dlex_benchmark_write(stderr, DLEX_BENCHMARK_TEXT, miss_ratio());
        return;
    }
    const int err = write_file(file);
    if (err)
        complain(file, err);
}
