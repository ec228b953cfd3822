/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sound_testing.h"

#include <check.h>
#include <errno.h>
#include <time.h>

const struct audio_format stereo = {.rate = RATE, .channels = 2};
const float silence[RATE * 2];

void nap(void)
{
    nanosleep(&(const struct timespec){.tv_nsec = MS(1)}, NULL);
}

struct audio_sink *open_sink(const char *kind)
{
    struct audio_sink *sink;
    char why[200];
    ck_assert_msg(audio_sink_create(&sink, kind, &stereo, why, sizeof why) == 0, "%s", why);
    ck_assert_str_eq(audio_sink_kind(sink), kind);
    return sink;
}

int64_t wait_until_heard(struct audio_sink *sink)
{
    int64_t pts_ns;
    while (audio_sink_heard(sink, &pts_ns) == -EAGAIN)
        nap();
    ck_assert_int_eq(audio_sink_heard(sink, &pts_ns), 0);
    return pts_ns;
}

int64_t play_to_end(struct audio_sink *sink)
{
    int64_t last_ns = 0;
    while (!audio_sink_drained(sink)) {
        int64_t pts_ns = last_ns;
        audio_sink_heard(sink, &pts_ns);
        ck_assert_int_ge(pts_ns, last_ns);
        last_ns = pts_ns;
        nap();
    }
    ck_assert_int_eq(audio_sink_heard(sink, &last_ns), 0);
    return last_ns;
}

void *write_ten_seconds(void *sink)
{
    for (int i = 0; i < 10; i++) {
        const int ret = audio_sink_write(sink, silence, RATE, S(i));
        if (ret < 0)
            return (void *)(intptr_t)ret;
    }
    return NULL;
}
