/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { LINE_SIZE = 256 };

/* Returns the first line of a small file, or a JSON null. */
static json_t *line_of(const char *path)
{
    char line[LINE_SIZE];
    FILE *const in = fopen(path, "r");
    if (!in)
        return json_null();
    const char *const got = fgets(line, sizeof line, in);
    fclose(in);
    if (!got)
        return json_null();
    line[strcspn(line, "\n")] = '\0';
    json_t *const text = json_string(line);
    return text ? text : json_null();
}

static json_t *cpu_model(void)
{
    FILE *const in = fopen("/proc/cpuinfo", "r");
    if (!in)
        return json_null();
    json_t *model = NULL;
    char line[LINE_SIZE];
    while (!model && fgets(line, sizeof line, in)) {
        const char *const colon = strchr(line, ':');
        if (!strncmp(line, "model name", 10) && colon) {
            line[strcspn(line, "\n")] = '\0';
            model = json_string(colon + 2);
        }
    }
    fclose(in);
    return model ? model : json_null();
}

static const char *scheduling_policy(void)
{
    switch (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) {
    case SCHED_OTHER: return "other";
    case SCHED_BATCH: return "batch";
    case SCHED_IDLE: return "idle";
    case SCHED_FIFO: return "fifo";
    case SCHED_RR: return "rr";
    default: return "deadline";
    }
}

static json_t *affinity(void)
{
    cpu_set_t set;
    json_t *const cpus = json_array();
    if (sched_getaffinity(0, sizeof set, &set))
        return cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            json_array_append_new(cpus, json_integer(cpu));
    return cpus;
}

json_t *machine_facts(void)
{
    struct utsname name;
    if (uname(&name))
        memset(&name, 0, sizeof name);
    return json_pack("{s:s++, s:s, s:s, s:o, s:i, s:o, s:o, s:s, s:i, s:o}",
                     "kernel", name.sysname, " ", name.release,
                     "kernel_version", name.version,
                     "architecture", name.machine,
                     "cpu_model", cpu_model(),
                     "cpus_online", (int)sysconf(_SC_NPROCESSORS_ONLN),
                     "governor", line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
                     "clock_source", line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
                     "scheduling_policy", scheduling_policy(),
                     "nice", getpriority(PRIO_PROCESS, 0),
                     "affinity", affinity());
}
