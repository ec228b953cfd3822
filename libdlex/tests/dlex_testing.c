/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dlex_testing.h"

static __thread char text[64];
static __thread volatile int length;

void burn_until(int64_t time_ns)
{
    while (dlex_now_ns() < time_ns)
        ;
}

void burn(int64_t ns)
{
    burn_until(dlex_now_ns() + ns);
}

void outlast(int64_t deadline_ns)
{
    burn_until(deadline_ns);
    while (!dlex_guard_.pending)
        ;
}

void log_clear(void)
{
    length = 0;
    text[0] = '\0';
}

void log_mark(char letter)
{
    if (length + 1 < (int)sizeof(text)) {
        text[length] = letter;
        text[length + 1] = '\0';
        length = length + 1;
    }
}

const char *log_text(void)
{
    return text;
}

/* Returns whether the section began before the deadline. */
static bool run_protected(void (*body)(int64_t deadline_ns))
{
    volatile bool begun = false;
    log_clear();
    const int64_t deadline_ns = dlex_now_ns() + SOON;
    dlex_try_within_abs(deadline_ns) {
        dlex_try_within_disable();
        begun = true;
        body(deadline_ns);
        outlast(deadline_ns);
        log_mark('p');
        dlex_try_within_enable();
        log_mark('x');
    } dlex_handle dlex_when(dlex_deadline_violation) {
        log_mark('o');
    } dlex_end
    return begun;
}

const char *log_of_protected(void (*body)(int64_t deadline_ns))
{
    for (int i = 0; i < 100 && !run_protected(body); i++) /* late before the section, when busy */
        ;
    return log_text();
}
