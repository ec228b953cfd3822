/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "latency_cases.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIFO_PRIORITY = 50, LOAD_MAX = 16, FRAME_THREADS = 2 };

/* Programs that always compute. */
struct load {
    pid_t programs[LOAD_MAX];
    int count;
};

const char *latency_case_way(const struct latency_case *it)
{
    return it->latency.way == ABORT_BY_JUMP ? "jump" : "poll";
}

bool latency_case_has_goal(const struct latency_case *it)
{
    return !it->load && it->latency.threads == 1;
}

static void load_begin(struct load *load, int count)
{
    const pid_t parent = getpid();
    load->count = 0;
    for (int i = 0; i < count && i < LOAD_MAX; i++) {
        const pid_t program = fork();
        if (!program) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (volatile bool goes_on = getppid() == parent; goes_on;)
                ;
            _exit(0);
        }
        if (program > 0)
            load->programs[load->count++] = program;
    }
}

static void load_end(struct load *load)
{
    for (int i = 0; i < load->count; i++) {
        kill(load->programs[i], SIGKILL);
        waitpid(load->programs[i], NULL, 0);
    }
}

static bool use_fifo(bool on)
{
    const struct sched_param param = {.sched_priority = on ? FIFO_PRIORITY : 0};
    return !sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &param);
}

static int measure_case(struct latency_case *it, const struct coded_stream *stream)
{
    fprintf(stderr, "measuring expiry to control: %s, %s, %d threads, %s, beside %d programs\n", it->clip, latency_case_way(it),
            it->latency.threads, it->is_fifo ? "fifo" : "other", it->load);
    it->is_measured = !it->is_fifo || use_fifo(true);
    if (!it->is_measured) {
        fprintf(stderr, "dlex-bench-decode: this account may not use SCHED_FIFO; run it as root, or allow it by ulimit -r 50\n");
        return 0;
    }
    struct load load;
    if (it->is_fifo)
        use_fifo(false); /* the load has the usual policy */
    load_begin(&load, it->load);
    if (it->is_fifo)
        use_fifo(true);
    const int ret = latency_measure(&it->latency, stream);
    if (it->is_fifo)
        use_fifo(false);
    load_end(&load);
    if (ret >= 0 && it->latency.inside_ns.count < (size_t)it->latency.wanted_aborts)
        fprintf(stderr, "dlex-bench-decode: only %zu aborts; give a shorter --deadline-base\n", it->latency.inside_ns.count);
    return ret;
}

/* Returns whether the decoder of the stream knows the way, with so many threads. */
static bool is_possible(const struct coded_stream *stream, enum abort_way way, int threads)
{
    const AVCodec *const codec = avcodec_find_decoder(stream->parameters->codec_id);
    const int needs = (way == ABORT_BY_JUMP ? AV_CODEC_CAP_GATE : AV_CODEC_CAP_ABANDON) |
                      (threads > 1 ? AV_CODEC_CAP_FRAME_THREADS : 0);
    return codec && (codec->capabilities & needs) == needs;
}

static int measure(struct latency_cases *cases, const struct latency_settings *settings, const struct coded_stream *stream,
                   struct latency_case wanted)
{
    if (!is_possible(stream, wanted.latency.way, wanted.latency.threads))
        return 0;
    struct latency_case *const it = &cases->cases[cases->count++];
    *it = wanted;
    it->latency.rests = it->is_fifo;
    it->latency.deadline_base_ns = settings->deadline_base_ns;
    it->latency.wanted_aborts = settings->aborts;
    it->latency.most_passes = settings->most_passes;
    return measure_case(it, stream);
}

static int measure_clip(struct latency_cases *cases, const struct latency_settings *settings, const char *clip)
{
    const int programs = 2 * (int)sysconf(_SC_NPROCESSORS_ONLN);
    struct coded_stream stream;
    int ret = stream_load(&stream, clip, SIZE_MAX);
    if (ret < 0)
        return ret;
    for (int loaded = 0; loaded <= 1; loaded++)
        for (int fifo = 0; fifo <= !settings->without_fifo; fifo++)
            for (int way = ABORT_BY_JUMP; way <= ABORT_BY_POLL && ret >= 0; way++)
                ret = measure(cases, settings, &stream, (struct latency_case){
                    .clip = clip, .is_fifo = fifo, .load = loaded ? programs : 0, .latency = {.way = way, .threads = 1}});
    if (ret >= 0)
        ret = measure(cases, settings, &stream, (struct latency_case){
            .clip = clip, .latency = {.way = ABORT_BY_POLL, .threads = FRAME_THREADS}});
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
