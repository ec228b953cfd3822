/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernel_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *kernel_file_line(const char *path, char *text, size_t size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = file < 0 ? 0 : read(file, text, size - 1);
    if (file >= 0)
        close(file);
    if (got <= 0)
        return NULL;
    text[got] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return text;
}

long kernel_file_number(const char *path, long missing)
{
    char text[32];
    char *rest;
    if (!kernel_file_line(path, text, sizeof text))
        return missing;
    const long number = strtol(text, &rest, 10);
    return rest == text ? missing : number;
}
