/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pulse_server.h"

#include <dlex/dlex.h>
#include <pthread.h>
#include <signal.h>

/*
 * Local servers answer in milliseconds. Three seconds allow for a loaded machine, and are bearable
 * if the server hangs.
 */
static const pa_usec_t limit_us = 3000000;

static const int64_t old_report_ns = 2000000000;

void pulse_server_wake(struct pulse_server *server)
{
    pa_threaded_mainloop_signal(server->loop, 0);
}

static void context_changed(pa_context *context, void *opaque)
{
    struct pulse_server *const server = opaque;
    if (!PA_CONTEXT_IS_GOOD(pa_context_get_state(context)))
        server->lost(server->opaque);
    pulse_server_wake(server);
}

static void limit_came(pa_mainloop_api *api, pa_time_event *event, const struct timeval *at,
                       void *opaque)
{
    (void)api;
    (void)event;
    (void)at;
    struct pulse_server *const server = opaque;
    server->limit_passed = true;
    pulse_server_wake(server);
}

/* The new thread inherits the signal mask, so that only main gets signals. */
static int start_thread(struct pulse_server *server)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int ret = pa_threaded_mainloop_start(server->loop);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ret;
}

static pa_context *new_context(struct pulse_server *server)
{
    pa_proplist *const properties = pa_proplist_new();
    pa_proplist_sets(properties, PA_PROP_APPLICATION_NAME, server->name);
    pa_proplist_sets(properties, PA_PROP_MEDIA_ROLE, "video");
    pa_mainloop_api *const api = pa_threaded_mainloop_get_api(server->loop);
    pa_context *const context = pa_context_new_with_proplist(api, server->name, properties);
    pa_proplist_free(properties);
    return context;
}

bool pulse_server_wait(struct pulse_server *server)
{
    if (server->limit_passed || !PA_CONTEXT_IS_GOOD(pa_context_get_state(server->context)))
        return false;
    pa_threaded_mainloop_wait(server->loop);
    return true;
}

static int connect_context(struct pulse_server *server)
{
    server->context = new_context(server);
    if (!server->context)
        return -1;
    pa_context_set_state_callback(server->context, context_changed, server);
    server->limit = pa_context_rttime_new(server->context, pa_rtclock_now() + limit_us, limit_came,
                                          server);
    if (pa_context_connect(server->context, NULL, PA_CONTEXT_NOAUTOSPAWN, NULL) < 0)
        return -1;
    while (pa_context_get_state(server->context) != PA_CONTEXT_READY)
        if (!pulse_server_wait(server))
            return -1;
    return 0;
}

int pulse_server_open(struct pulse_server *server, const char *name, void (*lost)(void *opaque), void *opaque)
{
    *server = (struct pulse_server){.name = name, .lost = lost, .opaque = opaque};
    server->loop = pa_threaded_mainloop_new();
    if (!server->loop || start_thread(server) < 0)
        return -1;
    pa_threaded_mainloop_lock(server->loop);
    const int ret = connect_context(server);
    if (ret < 0)
        pulse_server_settle(server);
    return ret;
}

void pulse_server_settle(struct pulse_server *server)
{
    if (server->limit)
        pa_threaded_mainloop_get_api(server->loop)->time_free(server->limit);
    server->limit = NULL;
    pa_threaded_mainloop_unlock(server->loop);
}

const char *pulse_server_cause(const struct pulse_server *server)
{
    if (!server->context)
        return "its thread cannot be started";
    return server->limit_passed ? "it does not answer"
                                : pa_strerror(pa_context_errno(server->context));
}

void pulse_server_close(struct pulse_server *server)
{
    if (!server->loop)
        return;
    if (server->context) {
        pa_threaded_mainloop_lock(server->loop);
        pa_context_set_state_callback(server->context, NULL, NULL);
        pa_context_disconnect(server->context);
        pa_context_unref(server->context);
        pa_threaded_mainloop_unlock(server->loop);
    }
    pa_threaded_mainloop_stop(server->loop);
    pa_threaded_mainloop_free(server->loop);
    *server = (struct pulse_server){0};
}

int64_t pulse_server_report_ns(const pa_timing_info *timing)
{
    struct timeval now;
    pa_gettimeofday(&now);
    const int64_t age_us = (now.tv_sec - timing->timestamp.tv_sec) * INT64_C(1000000) +
                           now.tv_usec - timing->timestamp.tv_usec;
    const int64_t age_ns = 1000 * age_us;
    return dlex_now_ns() - (age_ns > 0 && age_ns < old_report_ns ? age_ns : 0);
}

void pulse_server_forget(pa_operation *operation)
{
    if (operation)
        pa_operation_unref(operation);
}
