/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program that catches nothing. Its argument selects the error. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include <dlex/dlex.h>

dlex_define_exception(bad_weather) dlex_extends(dlex_exception);

static void take(int number)
{
    (void)number;
}

static void need_a_timer(void)
{
    dlex_try_within_rel(INT64_C(3600) * 1000 * 1000 * 1000) {
        dlex_try_within_disable();
        dlex_try_within_enable();
    } dlex_end
}

int main(int count, char **words)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    if (count < 2)
        return 2;
    if (strcmp(words[1], "no-timers") == 0) {
        setrlimit(RLIMIT_SIGPENDING, &(struct rlimit){ 0, 0 });
        need_a_timer();
    } else if (strcmp(words[1], "signal-taken") == 0) {
        signal(dlex_signal(), take);
        need_a_timer();
    } else if (strcmp(words[1], "exception") == 0) {
        dlex_throw(bad_weather);
    } else if (strcmp(words[1], "violation") == 0) {
        dlex_try_within_rel(0) {
        } dlex_end
    } else if (strcmp(words[1], "return-past-finally") == 0) {
        dlex_try {
            return 0;
        } dlex_finally {
        } dlex_end
    } else if (strcmp(words[1], "enable") == 0) {
        dlex_try_within_enable();
    }
    return 0;
}
