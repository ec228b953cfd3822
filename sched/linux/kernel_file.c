/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernel_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *kernel_file_line(const char *path, char *text, size_t size)
{
    FILE *const file = fopen(path, "re");
    const char *const line = file ? fgets(text, (int)size, file) : NULL;
    if (file)
        fclose(file);
    if (!line)
        return NULL;
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
