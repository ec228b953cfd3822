/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void put(char *text, const char *value)
{
    snprintf(text, HOST_TEXT_SIZE, "%s", value);
    text[strcspn(text, "\n")] = '\0';
}

static void read_line(char *text, const char *path)
{
    char line[HOST_TEXT_SIZE] = "unknown";
    FILE *in = fopen(path, "r");
    if (in) {
        if (!fgets(line, sizeof(line), in))
            put(line, "unknown");
        fclose(in);
    }
    put(text, line);
}

static void read_cpu(char *text)
{
    char line[HOST_TEXT_SIZE];
    put(text, "unknown");
    FILE *in = fopen("/proc/cpuinfo", "r");
    if (!in)
        return;
    while (fgets(line, sizeof(line), in)) {
        const char *colon = strchr(line, ':');
        if (!strncmp(line, "model name", 10) && colon) {
            put(text, colon + 2);
            break;
        }
    }
    fclose(in);
}

void host_read(struct host *host)
{
    struct utsname name;
    struct timespec tick = {0, 0};
    *host = (struct host){.cpu_count = sysconf(_SC_NPROCESSORS_ONLN)};
    if (!uname(&name))
        snprintf(host->kernel, HOST_TEXT_SIZE, "%.60s %.60s", name.sysname, name.release);
    if (!clock_getres(CLOCK_MONOTONIC_COARSE, &tick) && tick.tv_nsec)
        host->tick_hz = (1000000000 + tick.tv_nsec / 2) / tick.tv_nsec;
    read_cpu(host->cpu);
    read_line(host->governor, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    read_line(host->clock_source,
              "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    getloadavg(&host->load, 1);
}
