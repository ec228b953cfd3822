/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "same_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool facts_of(const char *path, struct stat *facts)
{
    return !(strcmp(path, "-") ? stat(path, facts) : fstat(STDOUT_FILENO, facts));
}

static const char *name_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool folder_facts_of(const char *path, struct stat *facts)
{
    char folder[PATH_MAX];
    const int length = (int)(name_of(path) - path);
    if (length >= (int)sizeof folder)
        return false;
    snprintf(folder, sizeof folder, "%.*s", length, path);
    return !stat(length ? folder : ".", facts);
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
    return !strcmp(name_of(a), name_of(b)) && folder_facts_of(a, &one) && folder_facts_of(b, &other) && is_one(&one, &other);
}
