/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "latency_cases.h"

#include <sched.h>
#include <stdio.h>

enum { FIFO_PRIORITY = 50 };

const char *latency_case_way(const struct latency_case *it)
{
    return it->latency.way == ABORT_BY_JUMP ? "jump" : "poll";
}

static bool use_fifo(bool on)
{
    const struct sched_param param = {.sched_priority = on ? FIFO_PRIORITY : 0};
    return !sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &param);
}

static int measure_case(struct latency_case *it, const struct coded_stream *stream)
{
    fprintf(stderr, "measuring expiry to control: %s, %s, %s\n", it->clip, latency_case_way(it), it->is_fifo ? "fifo" : "other");
    it->is_measured = !it->is_fifo || use_fifo(true);
    if (!it->is_measured) {
        fprintf(stderr, "dlex-bench-decode: this account may not use SCHED_FIFO; run it as root, or allow it by ulimit -r 50\n");
        return 0;
    }
    const int ret = latency_measure(&it->latency, stream);
    if (it->is_fifo)
        use_fifo(false);
    if (ret >= 0 && it->latency.inside_ns.count < (size_t)it->latency.wanted_aborts)
        fprintf(stderr, "dlex-bench-decode: only %zu aborts; give a shorter --deadline-base\n", it->latency.inside_ns.count);
    return ret;
}

static struct latency_case *add_case(struct latency_cases *cases, const struct latency_settings *settings, const char *clip)
{
    struct latency_case *const it = &cases->cases[cases->count];
    *it = (struct latency_case){
        .clip = clip,
        .latency = {
            .deadline_base_ns = settings->deadline_base_ns,
            .wanted_aborts = settings->aborts,
            .most_passes = settings->most_passes,
        },
    };
    cases->count++;
    return it;
}

static int measure_clip(struct latency_cases *cases, const struct latency_settings *settings, const char *clip)
{
    struct coded_stream stream;
    int ret = stream_load(&stream, clip, SIZE_MAX);
    if (ret < 0)
        return ret;
    for (int fifo = 0; fifo <= !settings->without_fifo && ret >= 0; fifo++) {
        for (int way = ABORT_BY_JUMP; way <= ABORT_BY_POLL && ret >= 0; way++) {
            struct latency_case *const it = add_case(cases, settings, clip);
            it->is_fifo = it->latency.rests = fifo;
            it->latency.way = way;
            ret = measure_case(it, &stream);
        }
    }
    stream_finish(&stream);
    return ret;
}

int latency_cases_measure(struct latency_cases *cases, const struct latency_settings *settings)
{
    int ret = 0;
    cases->count = 0;
    for (int i = 0; i < LATENCY_CLIPS_MAX && settings->clips[i] && ret >= 0; i++) {
        ret = measure_clip(cases, settings, settings->clips[i]);
        if (ret < 0)
            fprintf(stderr, "dlex-bench-decode: %s cannot be decoded: %s\n", settings->clips[i], av_err2str(ret));
    }
    return ret;
}

void latency_cases_finish(struct latency_cases *cases)
{
    for (int i = 0; i < cases->count; i++)
        latency_finish(&cases->cases[i].latency);
    cases->count = 0;
}
