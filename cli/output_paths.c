/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output_paths.h"

#include "same_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_end(const struct named_path *it)
{
    return !it->name && !it->path;
}

/* What goes to /dev/null or to a terminal overwrites nothing. */
static bool is_device(const char *path)
{
    struct stat facts;
    const int missing = strcmp(path, "-") ? stat(path, &facts) : fstat(STDOUT_FILENO, &facts);
    return !missing && S_ISCHR(facts.st_mode);
}

static bool collide(const struct named_path *output, const char *path)
{
    return output->path && path && is_same_file(output->path, path) && !is_device(output->path);
}

static void report(const char *program, const struct named_path *output, const char *other, const char *what)
{
    const bool is_long = output->name && !strncmp(output->name, "--", 2);
    fprintf(stderr, "%s: %s%s%s is the same file as %s, %s; name another file\n", program, output->name ? output->name : "",
            is_long ? "=" : output->name ? " " : "", output->path, other, what);
}

static bool check_inputs(const char *program, const struct named_path *output, const struct named_path *inputs)
{
    for (; !is_end(inputs); inputs++)
        if (collide(output, inputs->path)) {
            report(program, output, inputs->path, "which is read and would be overwritten");
            return false;
        }
    return true;
}

static bool check_others(const char *program, const struct named_path *output, const struct named_path *others)
{
    for (; !is_end(others); others++)
        if (collide(output, others->path)) {
            const bool is_stdout = !strcmp(others->path, "-");
            report(program, output, others->name ? others->name : is_stdout ? "standard output" : others->path,
                   "and cannot hold both");
            return false;
        }
    return true;
}

bool output_paths_check(const char *program, const struct named_path *outputs, const struct named_path *inputs)
{
    for (const struct named_path *output = outputs; !is_end(output); output++)
        if (!check_inputs(program, output, inputs) || !check_others(program, output, output + 1))
            return false;
    return true;
}

bool output_paths_check_command(const char *program, struct named_path output, char *const *command)
{
    for (; output.path && command && *command; command++) {
        const char *const value = strchr(*command, '=');
        const struct named_path inputs[] = {{"argument", *command}, {"value", value ? value + 1 : NULL}, {NULL, NULL}};
        if (!check_inputs(program, &output, inputs))
            return false;
    }
    return true;
}

/* Returns 0 or a negative errno. A pipe that nobody reads yet (ENXIO) is fine. */
static int try_path(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool is_new = file >= 0;
    if (file < 0 && errno == EEXIST)
        file = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return errno == ENXIO ? 0 : -errno;
    close(file);
    return is_new && unlink(path) ? -errno : 0;
}

bool output_paths_try(const char *program, const char *path)
{
    const int error = path ? try_path(path) : 0;
    if (error)
        fprintf(stderr, "%s: %s cannot be written: %s; name another file\n", program, path, strerror(-error));
    return !error;
}
