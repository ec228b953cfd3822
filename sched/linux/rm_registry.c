/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rm_registry.h"

#include "ns.h"
#include "own_folder.h"
#include "own_proc.h"
#include "process_start.h"
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

enum { PATH_SIZE = 96, LINE_SIZE = 256, THREADS_MAX = 256, FAMILY_MAX = 64, LOCK_TRIES = 200, LOOKS_MAX = 16 };
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

/* Locks the registry, after so many tries at most. Returns a descriptor to close, or a negative errno. */
static int lock(int tries_max)
{
    char path[PATH_SIZE];
    const struct timespec pause = ns_to_timespec(lock_pause_ns);
    const int error = path_of("rm.lock", path);
    if (error)
        return error;
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    for (int tries = 1; flock(fd, LOCK_EX | LOCK_NB); tries++) {
        if (tries >= tries_max) {
            close(fd);
            return tries_max > 1 ? -ETIMEDOUT : -EAGAIN;
        }
        nanosleep(&pause, NULL);
    }
    return fd;
}

static bool is_within(const struct rm_band *band, int level)
{
    return level >= band->lowest && level <= band->highest;
}

static bool is_valid(const struct rm_member *member, const struct rm_task *task)
{
    const struct rm_band *const band = task->kind == RM_GUARANTEED ? &rm_band_guaranteed : &rm_band_statistical;
    if (task->kind == RM_GUARANTEED && (task->cost_max_ns <= 0 || task->cost_max_ns > task->deadline_ns))
        return false;
    return member->process > 0 && member->started_ticks > 0 && task->period_ns > 0 && task->period_ns <= period_max_ns &&
           task->deadline_ns > 0 && task->deadline_ns <= task->period_ns && task->cost_max_ns >= 0 &&
           task->cost_max_ns <= task->period_ns && task->cost_mean_ns > 0 && task->cost_mean_ns <= task->period_ns &&
           is_within(band, task->level) && (!member->level_before || is_within(band, member->level_before));
}

/* Parses a line of write_member. Returns false for anything else. */
static bool parse_member(const char *line, struct rm_member *member, struct rm_task *task)
{
    int process, is_guaranteed, level, level_before, at = 0;
    uint64_t started;
    *member = (struct rm_member){.process = 0};
    *task = (struct rm_task){.level = 0};
    const int fields = sscanf(line, "%d %" SCNu64 " %d %d %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %n", &process,
                              &started, &is_guaranteed, &level, &level_before, &task->period_ns, &task->deadline_ns,
                              &task->cost_max_ns, &task->cost_mean_ns, &at);
    if (fields < 9 || !at)
        return false;
    member->process = process;
    member->level_before = level_before;
    member->started_ticks = started;
    snprintf(member->name, sizeof member->name, "%.*s", (int)strcspn(line + at, "\n"), line + at);
    task->kind = is_guaranteed ? RM_GUARANTEED : RM_STATISTICAL;
    task->level = level;
    return is_valid(member, task);
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
        if (parse_member(line, member, &registry->tasks[registry->count]) &&
            process_lives(member->process, member->started_ticks))
            registry->count++;
    }
    fclose(table);
    return 0;
}

/* Returns the number of the member that is this process; -ESRCH: there is none. */
static int number_of(const struct rm_registry *registry, pid_t process)
{
    for (int i = 0; i < registry->count; i++)
        if (registry->members[i].process == process)
            return i;
    return -ESRCH;
}

int rm_registry_level(void)
{
    struct rm_registry registry;
    const int error = rm_registry_read(&registry);
    const int self = error ? error : number_of(&registry, getpid());
    return self < 0 ? self : registry.tasks[self].level;
}

static void write_member(FILE *table, const struct rm_member *member, const struct rm_task *task)
{
    fprintf(table, "%d %" PRIu64 " %d %d %d %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %s\n", (int)member->process,
            member->started_ticks, task->kind == RM_GUARANTEED, task->level, member->level_before, task->period_ns,
            task->deadline_ns, task->cost_max_ns, task->cost_mean_ns, member->name);
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

/* What one look at a member's threads has found. */
struct look {
    int moved; /* threads that had the level before */
    int error; /* why some could not be looked at for the moment: no file can be opened */
};

static void note_error(struct look *look, int error)
{
    if (error == -EMFILE || error == -ENFILE || error == -ENOMEM)
        look->error = error;
}

/*
 * Moves a thread from the level before to the level of its program. One with another priority has chosen that by itself. The
 * calling process has no level before, and so is left out.
 */
static void move_thread(const struct rm_registry *registry, int number, pid_t process, pid_t thread, struct look *look)
{
    struct thread_ref ref;
    struct sched_param now;
    const struct sched_param wanted = {.sched_priority = registry->tasks[number].level};
    int error = thread_ref_open(&ref, process, thread);
    if (!error && (sched_getscheduler(thread) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO && !sched_getparam(thread, &now) &&
        now.sched_priority == registry->members[number].level_before) {
        error = thread_ref_check(&ref);
        look->moved += !error && !sched_setparam(thread, &wanted);
    }
    thread_ref_close(&ref);
    note_error(look, error);
}

/* Moves all threads of a member, and of the programs that it has started, unless these are members by themselves. */
static struct look move_family(const struct rm_registry *registry, int number)
{
    pid_t family[FAMILY_MAX], threads[THREADS_MAX];
    const struct rm_member *const member = &registry->members[number];
    struct look look = {.moved = 0};
    const int processes = thread_list_family(member->process, family, FAMILY_MAX);
    const uint64_t started = process_start(member->process); /* asked after the list was made: it is that of this member */
    if (started != member->started_ticks)
        return (struct look){.error = started == PROCESS_START_UNKNOWN ? -EMFILE : 0};
    for (int p = 0; p < processes; p++) {
        if ((p && number_of(registry, family[p]) >= 0) || !thread_ref_may_change(family[p]))
            continue;
        const int count = thread_list(family[p], threads, THREADS_MAX);
        note_error(&look, count);
        for (int i = 0; i < count; i++)
            move_thread(registry, number, family[p], threads[i], &look);
    }
    return look;
}

/*
 * Moves a member to its level, until no thread has the level before: one that is moved late may have started others. Returns 0,
 * or why that cannot be found out.
 */
static int finish_move(struct rm_registry *registry, int number)
{
    struct look look = {.moved = 1};
    for (int i = 0; registry->members[number].level_before && look.moved && !look.error && i < LOOKS_MAX; i++)
        look = move_family(registry, number);
    if (!look.error)
        registry->members[number].level_before = 0;
    return look.error;
}

/* Moves all members whose level has changed. Returns 0 or the first error; the others are moved also then. */
static int finish_moves(struct rm_registry *registry)
{
    int first = 0;
    for (int i = 0; i < registry->count; i++) {
        const int error = finish_move(registry, i);
        first = first ? first : error;
    }
    return first;
}

/* Finds the level of this member, the caller. The table keeps the level before of the others that it moves. */
static int place(struct rm_registry *registry, int self, struct rm_placing *placing)
{
    struct rm_task before[RM_MEMBERS_MAX];
    const struct rm_band *const band = registry->tasks[self].kind == RM_GUARANTEED ? &rm_band_guaranteed : &rm_band_statistical;
    memcpy(before, registry->tasks, sizeof before);
    const int error = rm_levels_add(placing, band, registry->tasks, registry->count, self);
    for (int i = 0; i < registry->count && !error; i++)
        registry->members[i].level_before = i == self || registry->tasks[i].level == before[i].level ? 0 : before[i].level;
    return error;
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
    const uint64_t started = process_start(getpid());
    if (!own_proc_is_shown())
        return -EREMOTE;
    if (registry->count == RM_MEMBERS_MAX)
        return -ENOSPC;
    if (number_of(registry, getpid()) >= 0)
        return -EALREADY;
    if (!started || started == PROCESS_START_UNKNOWN)
        return started ? -EMFILE : -ESRCH;
    struct rm_member *const member = &registry->members[registry->count];
    *member = (struct rm_member){.process = getpid(), .started_ticks = started};
    snprintf(member->name, sizeof member->name, "%s", name);
    for (char *c = member->name; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    registry->tasks[registry->count++] = *task;
    return 0;
}

/* Tests whether all members can be admitted together, and finds who would be late. */
static int admit(const struct rm_registry *registry, struct rm_joined *joined)
{
    const int error = response_time_admit(&joined->by, registry->tasks, registry->count);
    if (error == -EBUSY && joined->by == RESPONSE_TOO_LATE)
        find_late(registry, joined);
    return error;
}

/* Writes what was decided about this member, the caller, and carries it out. The caller holds the lock. */
static int settle(struct rm_registry *registry, int self, const struct rm_placing *placing, struct rm_joined *joined)
{
    const int error = write_all(registry);
    if (error)
        return error;
    joined->level = registry->tasks[self].level;
    joined->moved = placing->moved;
    joined->has_merged = placing->has_merged;
    if (placing->moved && !finish_moves(registry))
        (void)write_all(registry); /* else the next newcomer finishes them once more */
    return 0;
}

/* Reads the registry, and finishes what a newcomer that was killed has left. The caller holds the lock. */
static int read_finished(struct rm_registry *registry)
{
    const int error = rm_registry_read(registry);
    return error ? error : finish_moves(registry);
}

/* Decides, writes and carries out. The caller holds the lock. */
static int join_locked(const struct rm_task *task, const char *name, struct rm_joined *joined)
{
    struct rm_registry registry;
    struct rm_placing placing;
    int error = read_finished(&registry);
    if (error || (error = append_self(&registry, task, name)))
        return error;
    const int self = registry.count - 1;
    error = place(&registry, self, &placing);
    if (error || (error = admit(&registry, joined)))
        return error;
    return settle(&registry, self, &placing, joined);
}

int rm_registry_join(const struct rm_task *task, const char *name, struct rm_joined *joined)
{
    *joined = (struct rm_joined){.level = 0};
    const int locked = lock(LOCK_TRIES);
    if (locked < 0)
        return locked;
    const int error = join_locked(task, name, joined);
    close(locked);
    return error;
}

/* Decides, writes and carries out. The caller holds the lock. */
static int update_locked(const struct rm_task *task, struct rm_joined *joined)
{
    struct rm_registry registry;
    struct rm_placing placing = {.moved = 0};
    int error = read_finished(&registry);
    if (error)
        return error;
    const int self = number_of(&registry, getpid());
    if (self < 0)
        return self;
    const struct rm_task before = registry.tasks[self];
    registry.tasks[self] = *task;
    registry.tasks[self].level = before.level;
    if (task->kind != before.kind || task->period_ns != before.period_ns)
        error = place(&registry, self, &placing);
    if (!error)
        error = admit(&registry, joined);
    if (error == -EBUSY && task->kind == RM_STATISTICAL)
        error = 0;
    return error ? error : settle(&registry, self, &placing, joined);
}

int rm_registry_update(const struct rm_task *task, bool waits, struct rm_joined *joined)
{
    *joined = (struct rm_joined){.level = 0};
    const int locked = lock(waits ? LOCK_TRIES : 1);
    if (locked < 0)
        return locked;
    const int error = update_locked(task, joined);
    close(locked);
    return error;
}
