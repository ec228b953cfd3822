/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rm_registry.h"

#include "ns.h"
#include "own_folder.h"
#include "thread_ref.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 96, LINE_SIZE = 256, THREADS_MAX = 256, FAMILY_MAX = 64, LOCK_TRIES = 200 };
static const int64_t lock_pause_ns = 10 * NS_PER_MS;
static const int64_t period_max_ns = 60 * NS_PER_S;

static int path_of(const char *name, char path[PATH_SIZE])
{
    char folder[OWN_FOLDER_SIZE];
    const int error = own_folder(folder);
    if (!error)
        snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return error;
}

/* Locks the registry. Returns a descriptor to close, or a negative errno. */
static int lock(void)
{
    char path[PATH_SIZE];
    const struct timespec pause = ns_to_timespec(lock_pause_ns);
    const int error = path_of("rm.lock", path);
    if (error)
        return error;
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        if (!flock(fd, LOCK_EX | LOCK_NB))
            return fd;
        nanosleep(&pause, NULL);
    }
    close(fd);
    return -ETIMEDOUT;
}

static bool is_valid(const struct rm_member *member, const struct rm_task *task)
{
    const struct rm_band *const band = task->kind == RM_GUARANTEED ? &rm_band_guaranteed : &rm_band_statistical;
    if (task->kind == RM_GUARANTEED && (task->cost_max_ns <= 0 || task->cost_max_ns > task->deadline_ns))
        return false;
    return member->process > 0 && task->period_ns > 0 && task->period_ns <= period_max_ns && task->deadline_ns > 0 &&
           task->deadline_ns <= task->period_ns && task->cost_max_ns >= 0 && task->cost_max_ns <= task->period_ns &&
           task->cost_mean_ns > 0 && task->cost_mean_ns <= task->period_ns && task->level >= band->lowest &&
           task->level <= band->highest;
}

/* Parses a line of write_member. Returns false for anything else. */
static bool parse_member(const char *line, struct rm_member *member, struct rm_task *task)
{
    int process, is_guaranteed, level, at = 0;
    uint64_t started;
    *member = (struct rm_member){.process = 0};
    *task = (struct rm_task){.level = 0};
    if (sscanf(line, "%d %" SCNu64 " %d %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %n", &process, &started, &is_guaranteed, &level,
               &task->period_ns, &task->deadline_ns, &task->cost_max_ns, &task->cost_mean_ns, &at) < 8 || !at)
        return false;
    member->process = process;
    member->started_ticks = started;
    snprintf(member->name, sizeof member->name, "%.*s", (int)strcspn(line + at, "\n"), line + at);
    task->kind = is_guaranteed ? RM_GUARANTEED : RM_STATISTICAL;
    task->level = level;
    return is_valid(member, task);
}

static bool lives(const struct rm_member *member)
{
    struct thread_ref ref;
    if (thread_ref_open(&ref, member->process, member->process))
        return false;
    thread_ref_close(&ref);
    return ref.started_ticks == member->started_ticks;
}

/* Opens the table if it is a file of this user's alone. Returns NULL with errno 0 if there is none. */
static FILE *open_table(void)
{
    char path[PATH_SIZE];
    struct stat status;
    errno = -path_of("rm", path);
    if (errno)
        return NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        errno = errno == ENOENT ? 0 : errno;
        return NULL;
    }
    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
        close(fd);
        errno = EPERM;
        return NULL;
    }
    return fdopen(fd, "re");
}

int rm_registry_read(struct rm_registry *registry)
{
    char line[LINE_SIZE];
    registry->count = 0;
    FILE *const table = open_table();
    if (!table)
        return -errno;
    while (registry->count < RM_MEMBERS_MAX && fgets(line, sizeof line, table)) {
        struct rm_member *const member = &registry->members[registry->count];
        if (parse_member(line, member, &registry->tasks[registry->count]) && lives(member))
            registry->count++;
    }
    fclose(table);
    return 0;
}

int rm_registry_level(void)
{
    struct rm_registry registry;
    const int error = rm_registry_read(&registry);
    if (error)
        return error;
    for (int i = 0; i < registry.count; i++)
        if (registry.members[i].process == getpid())
            return registry.tasks[i].level;
    return -ESRCH;
}

static void write_member(FILE *table, const struct rm_member *member, const struct rm_task *task)
{
    fprintf(table, "%d %" PRIu64 " %d %d %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %s\n", (int)member->process,
            member->started_ticks, task->kind == RM_GUARANTEED, task->level, task->period_ns, task->deadline_ns, task->cost_max_ns,
            task->cost_mean_ns, member->name);
}

/* Replaces the table as a whole. The caller holds the lock. Returns 0 or a negative errno. */
static int write_all(const struct rm_registry *registry)
{
    char path[PATH_SIZE], new_path[PATH_SIZE];
    int error = path_of("rm", path);
    if (error || (error = path_of("rm.new", new_path)))
        return error;
    unlink(new_path); /* of a member that was killed here */
    const int fd = open(new_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *const table = fd < 0 ? NULL : fdopen(fd, "we");
    if (!table)
        return -errno;
    for (int i = 0; i < registry->count; i++)
        write_member(table, &registry->members[i], &registry->tasks[i]);
    error = ferror(table) ? -EIO : 0;
    if (fclose(table))
        error = -errno;
    return error ? error : rename(new_path, path) ? -errno : 0;
}

/* True for a priority that this file gives. A thread with another one has chosen it by itself. */
static bool is_in_bands(int priority)
{
    return priority >= rm_band_statistical.lowest && priority <= rm_band_guaranteed.highest;
}

/* Gives a thread this level, if it has another one. The calling process is not yet under SCHED_FIFO, and so is left out. */
static void set_thread(pid_t process, pid_t thread, int level)
{
    struct thread_ref ref;
    struct sched_param now;
    const struct sched_param wanted = {.sched_priority = level};
    if (thread_ref_open(&ref, process, thread))
        return;
    const bool is_fifo = (sched_getscheduler(thread) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO;
    if (is_fifo && !sched_getparam(thread, &now) && is_in_bands(now.sched_priority) && now.sched_priority != level &&
        !thread_ref_check(&ref))
        sched_setparam(thread, &wanted);
    thread_ref_close(&ref);
}

static bool is_member(const struct rm_registry *registry, pid_t process)
{
    for (int i = 0; i < registry->count; i++)
        if (registry->members[i].process == process)
            return true;
    return false;
}

/* Gives a member its level, with all threads and with the programs that it has started, unless these are members by themselves. */
static void set_level(const struct rm_registry *registry, int number)
{
    pid_t family[FAMILY_MAX], threads[THREADS_MAX];
    const struct rm_member *const member = &registry->members[number];
    const int processes = thread_list_family(member->process, family, FAMILY_MAX);
    if (!lives(member)) /* asked after the list was made: it is that of this member */
        return;
    for (int p = 0; p < processes; p++) {
        if ((p && is_member(registry, family[p])) || !thread_ref_may_change(family[p]))
            continue;
        const int count = thread_list(family[p], threads, THREADS_MAX);
        for (int i = 0; i < count; i++)
            set_thread(family[p], threads[i], registry->tasks[number].level);
    }
}

/* Finds the guaranteed member that would miss its deadlines. */
static void find_late(const struct rm_registry *registry, struct rm_joined *joined)
{
    for (int i = registry->count - 1; i >= 0; i--) {
        int64_t response_ns;
        if (registry->tasks[i].kind != RM_GUARANTEED ||
            response_time(&response_ns, registry->tasks, registry->count, i) != -EBUSY)
            continue;
        joined->late = registry->members[i];
        joined->late_response_ns = response_ns;
        joined->late_deadline_ns = registry->tasks[i].deadline_ns;
        return;
    }
}

/* Appends the calling process. Returns 0 or a negative errno. */
static int append_self(struct rm_registry *registry, const struct rm_task *task, const char *name)
{
    struct thread_ref self;
    if (registry->count == RM_MEMBERS_MAX)
        return -ENOSPC;
    for (int i = 0; i < registry->count; i++)
        if (registry->members[i].process == getpid())
            return -EALREADY;
    const int error = thread_ref_open(&self, getpid(), getpid());
    if (error)
        return error;
    thread_ref_close(&self);
    struct rm_member *const member = &registry->members[registry->count];
    *member = (struct rm_member){.process = getpid(), .started_ticks = self.started_ticks};
    snprintf(member->name, sizeof member->name, "%s", name);
    for (char *c = member->name; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    registry->tasks[registry->count++] = *task;
    return 0;
}

/* Decides, writes and carries out. The caller holds the lock. */
static int join_locked(const struct rm_task *task, const char *name, struct rm_joined *joined)
{
    struct rm_registry registry;
    struct rm_placing placing;
    const struct rm_band *const band = task->kind == RM_GUARANTEED ? &rm_band_guaranteed : &rm_band_statistical;
    int error = rm_registry_read(&registry);
    if (error || (error = append_self(&registry, task, name)))
        return error;
    const int self = registry.count - 1;
    error = rm_levels_add(&placing, band, registry.tasks, registry.count, self);
    if (!error)
        error = response_time_admit(&joined->by, registry.tasks, registry.count);
    if (error == -EBUSY && joined->by == RESPONSE_TOO_LATE)
        find_late(&registry, joined);
    if (error || (error = write_all(&registry)))
        return error;
    joined->level = registry.tasks[self].level;
    joined->moved = placing.moved;
    joined->has_merged = placing.has_merged;
    for (int i = 0; i < self; i++)
        set_level(&registry, i);
    return 0;
}

int rm_registry_join(const struct rm_task *task, const char *name, struct rm_joined *joined)
{
    *joined = (struct rm_joined){.level = 0};
    const int locked = lock();
    if (locked < 0)
        return locked;
    const int error = join_locked(task, name, joined);
    close(locked);
    return error;
}
