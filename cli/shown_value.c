/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shown_value.h"

#include <stdio.h>
#include <string.h>

enum { BYTES_MAX = 60, TEXT_SIZE = BYTES_MAX + 40, TEXTS = 4 };

/* UTF-8: a character is not cut in two. */
static int whole_characters(const char *value)
{
    int bytes = BYTES_MAX;
    while (bytes > 0 && ((unsigned char)value[bytes] & 0xc0) == 0x80)
        bytes--;
    return bytes;
}

const char *shown_value(const char *value)
{
    static char texts[TEXTS][TEXT_SIZE];
    static int last;
    const size_t length = strlen(value);
    if (length <= BYTES_MAX)
        return value;
    char *const text = texts[last = (last + 1) % TEXTS];
    snprintf(text, TEXT_SIZE, "%.*s... (%zu bytes)", whole_characters(value), value, length);
    return text;
}

int shown_length(size_t length)
{
    return length < BYTES_MAX ? (int)length : BYTES_MAX;
}

static void cut_name(char *name)
{
    const size_t length = strcspn(name, "=");
    if (length <= BYTES_MAX)
        return;
    const int shown = whole_characters(name);
    snprintf(name + shown, length - (size_t)shown + 1, "...");
}

void shown_option_names(char **argv, bool takes_command)
{
    for (int i = 1; argv[0] && argv[i] && strcmp(argv[i], "--") != 0; i++) {
        if (takes_command && argv[i][0] != '-')
            return;
        if (!strncmp(argv[i], "--", 2))
            cut_name(argv[i] + 2);
    }
}
