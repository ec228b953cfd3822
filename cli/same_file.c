/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "same_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 8 };

static bool facts_of(const char *path, struct stat *facts)
{
    return !(strcmp(path, "-") ? stat(path, facts) : fstat(STDOUT_FILENO, facts));
}

static const char *name_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int folder_length(const char *path)
{
    return (int)(name_of(path) - path);
}

static bool folder_facts_of(const char *path, struct stat *facts)
{
    char folder[PATH_MAX];
    const int length = folder_length(path);
    if (length >= (int)sizeof folder)
        return false;
    snprintf(folder, sizeof folder, "%.*s", length, path);
    return !stat(length ? folder : ".", facts);
}

/* Follows links that lead to no file yet: writing creates the file at their end. Returns path, or the end in `found`. */
static const char *follow(const char *path, char found[PATH_MAX])
{
    char target[PATH_MAX], next[PATH_MAX];
    for (int links = 0; links < LINKS_MAX; links++) {
        const ssize_t length = readlink(path, target, sizeof target - 1);
        if (length < 0)
            break;
        target[length] = '\0';
        const int before = *target == '/' ? 0 : folder_length(path);
        if (snprintf(next, sizeof next, "%.*s%s", before, path, target) >= (int)sizeof next)
            break;
        path = strcpy(found, next);
    }
    return path;
}

static bool is_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    if (!strcmp(a, b))
        return true;
    const bool exists = facts_of(a, &one);
    if (exists != facts_of(b, &other))
        return false;
    if (exists)
        return is_one(&one, &other);
    char end_a[PATH_MAX], end_b[PATH_MAX];
    a = follow(a, end_a);
    b = follow(b, end_b);
    return !strcmp(name_of(a), name_of(b)) && folder_facts_of(a, &one) && folder_facts_of(b, &other) && is_one(&one, &other);
}
