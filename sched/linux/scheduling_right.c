/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheduling_right.h"

#include "kernel_file.h"
#include "thread_policy.h"

#include <errno.h>
#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { GROUP_SIZE = 160, LINE_SIZE = 256, PATH_SIZE = 256 };

/* One that begins with a blank follows scheduling_who(). */
static const char *const reasons[] = {
    [SCHEDULING_ALLOWED] = "the kernel refuses fixed priorities, as with the filter of system calls of a container or a "
                           "service; this cannot be changed here: run it outside of that",
    [SCHEDULING_NOT_ROOT] = "this user may not use fixed priorities; run it with sudo, or put `@audio - rtprio 60` into "
                            "/etc/security/limits.conf and log in again",
    [SCHEDULING_NO_CAPABILITY] = " may not use fixed priorities here, because the capability CAP_SYS_NICE is missing, as "
                                 "in a container; start the container with `--cap-add=SYS_NICE` or `--ulimit rtprio=95`, or run it "
                                 "outside of that",
    [SCHEDULING_NO_NEW_RIGHTS] = " may not use fixed priorities here, and cannot get new rights (no_new_privs), as in a container "
                                 "or a service; start the container with `--ulimit rtprio=95`, put LimitRTPRIO=95 into the unit "
                                 "of the service, or run it outside of that",
    [SCHEDULING_INSIDE] = "nobody may use fixed priorities in this container (a user namespace); this cannot be changed here: "
                          "run it outside the container",
};

/* True if user ids are not those of the machine. */
static bool is_in_namespace(void)
{
    char line[64];
    long inside, outside, count;
    return kernel_file_line("/proc/self/uid_map", line, sizeof line) &&
           sscanf(line, "%ld %ld %ld", &inside, &outside, &count) == 3 && (inside || outside || count < UINT32_MAX);
}

enum scheduling_lack scheduling_lack(void)
{
    if (is_in_namespace())
        return SCHEDULING_INSIDE;
    if (thread_policy_is_privileged())
        return SCHEDULING_ALLOWED;
    if (!geteuid() || prctl(PR_CAPBSET_READ, CAP_SYS_NICE, 0, 0, 0) == 0)
        return SCHEDULING_NO_CAPABILITY;
    return capability_is_in_reach(CAP_SYS_NICE) ? SCHEDULING_NOT_ROOT : SCHEDULING_NO_NEW_RIGHTS;
}

bool capability_is_in_reach(int capability)
{
    return prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

const char *scheduling_who(void)
{
    return geteuid() ? "this user" : "root";
}

static bool has_cpu(char *controllers)
{
    char *rest;
    for (const char *name = strtok_r(controllers, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        if (!strcmp(name, "cpu"))
            return true;
    return false;
}

/* Finds this process's group under the controller `cpu` of version 1; empty: it is the first one, or there is none. */
static void find_group(char group[GROUP_SIZE])
{
    char line[LINE_SIZE];
    FILE *const groups = fopen("/proc/self/cgroup", "re");
    group[0] = '\0';
    while (groups && fgets(line, sizeof line, groups)) {
        char *const controllers = strchr(line, ':'), *const path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path = '\0';
        if (has_cpu(controllers + 1) && strcmp(path + 1, "/\n"))
            snprintf(group, GROUP_SIZE, "%.*s", (int)strcspn(path + 1, "\n"), path + 1);
    }
    if (groups)
        fclose(groups);
}

/* Returns the file that gives this process's control group no time for fixed priorities; NULL: there is none. */
static const char *closed_group(char path[PATH_SIZE])
{
    static const char *const mounts[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    char group[GROUP_SIZE];
    find_group(group);
    /* A container may show its own group in place of the first one. */
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, PATH_SIZE, "%s%s/cpu.rt_runtime_us", mounts[i % 2], i < 2 ? group : "");
        if (!access(path, R_OK))
            return kernel_file_number(path, -1) ? NULL : path;
    }
    return NULL;
}

const char *fixed_priority_remedy(int error, char text[SCHEDULING_REMEDY_SIZE])
{
    char path[PATH_SIZE];
    const enum scheduling_lack lack = scheduling_lack();
    const char *const closed = error == -EPERM ? closed_group(path) : NULL;
    const char *const who = reasons[lack][0] == ' ' ? scheduling_who() : "";
    if (error != -EPERM)
        snprintf(text, SCHEDULING_REMEDY_SIZE, "whether fixed priorities are allowed cannot be found out: %s",
                 strerror(-error));
    else if (closed && lack == SCHEDULING_ALLOWED)
        snprintf(text, SCHEDULING_REMEDY_SIZE, "the control group of this process has no time for fixed priorities; "
                 "`echo 500000 | sudo tee %s` gives it half of each second", closed);
    else if (closed)
        snprintf(text, SCHEDULING_REMEDY_SIZE, "%s%s; besides, the control group has no time for them: `echo 500000 | sudo tee "
                 "%s`", who, reasons[lack], closed);
    else
        snprintf(text, SCHEDULING_REMEDY_SIZE, "%s%s", who, reasons[lack]);
    return text;
}
