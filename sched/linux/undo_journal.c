/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "undo_journal.h"

#include "own_folder.h"
#include "timer_slack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_SIZE = 320, CREATING_TRIES = 100 };
/* Of what was given, as text, with the final 0. */
enum { GIVEN_SIZE = 41 };
static const char *const suffixes[] = {[UNDO_RESERVATIONS] = ".undo", [UNDO_MEMBERS] = ".members"};
enum { KINDS = sizeof suffixes / sizeof suffixes[0] };

/* Returns -EAGAIN if a repair has taken the new file for one that was left behind. */
static int create_in(const char *folder, struct undo_journal *journal, enum undo_kind kind)
{
    struct stat status;
    snprintf(journal->path, sizeof journal->path, "%s/XXXXXX%s", folder, suffixes[kind]);
    const int fd = mkostemps(journal->path, (int)strlen(suffixes[kind]), O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &status) || !status.st_nlink) {
        close(fd);
        return -EAGAIN;
    }
    journal->fd = fd;
    return 0;
}

int undo_journal_create_of(struct undo_journal *journal, enum undo_kind kind)
{
    char folder[OWN_FOLDER_SIZE];
    *journal = (struct undo_journal){.fd = 0};
    int error = own_folder(folder);
    if (error)
        return error;
    for (int tries = 0; tries < CREATING_TRIES; tries++)
        if ((error = create_in(folder, journal, kind)) != -EAGAIN)
            break;
    return error;
}

int undo_journal_create(struct undo_journal *journal)
{
    return undo_journal_create_of(journal, UNDO_RESERVATIONS);
}

/* Writes text at this place. Returns 0 or a negative errno. */
static int write_at(const struct undo_journal *journal, const char *text, off_t place)
{
    const ssize_t length = (ssize_t)strlen(text);
    const ssize_t written = pwrite(journal->fd, text, (size_t)length, place);
    if (written < 0)
        return -errno;
    return written == length ? 0 : -ENOSPC;
}

/*
 * Appends a line. Each begins with a line break, so that one that was written in part, for lack of space, does not spoil the next.
 * *place becomes that of the line after this line break.
 */
static int append(const struct undo_journal *journal, const char *line, off_t *place)
{
    const off_t end = lseek(journal->fd, 0, SEEK_END);
    if (end < 0)
        return -errno;
    *place = end + 1;
    return write_at(journal, line, end);
}

int undo_journal_append(const struct undo_journal *journal, const char *line)
{
    off_t place;
    return append(journal, line, &place);
}

/* Always writes the same number of characters, so that it can be written again at its place. */
static const char *given_text(const struct undo_given *given, char text[GIVEN_SIZE])
{
    snprintf(text, GIVEN_SIZE, "%019lld %019lld ", (long long)given->budget_ns, (long long)given->period_ns);
    return text;
}

static int append_entry(const struct undo_journal *journal, struct undo_entry *entry)
{
    char line[LINE_SIZE], first[GIVEN_SIZE], second[GIVEN_SIZE];
    off_t place = 0;
    const struct thread_ref *const thread = &entry->thread;
    snprintf(line, sizeof line, "\ngive %s%s%d %d %llu %llu %llu %d %d %lld %lld\n", given_text(&entry->given[0], first),
             given_text(&entry->given[1], second), (int)thread->process, (int)thread->thread,
             (unsigned long long)thread->started_ticks, (unsigned long long)thread->process_started_ticks,
             (unsigned long long)thread->stack, entry->before.number, entry->before.resets_on_fork,
             (long long)entry->before.slice_ns, (long long)entry->timer_slack_ns);
    const int error = append(journal, line, &place);
    if (!error)
        entry->place = place + (off_t)strlen("give ");
    return error;
}

int undo_journal_note(struct undo_journal *journal, struct undo_entry *entry, const struct undo_given *wanted)
{
    char text[GIVEN_SIZE];
    const int next = !entry->in_force;
    entry->given[next] = *wanted;
    return entry->place ? write_at(journal, given_text(wanted, text), entry->place + next * (GIVEN_SIZE - 1))
                        : append_entry(journal, entry);
}

void undo_entry_changed(struct undo_entry *entry)
{
    entry->in_force = !entry->in_force;
}

void undo_journal_done(struct undo_journal *journal, const struct undo_entry *entry)
{
    char line[LINE_SIZE];
    off_t place;
    snprintf(line, sizeof line, "\ndone %d %d %llu\n", (int)entry->thread.process, (int)entry->thread.thread,
             (unsigned long long)entry->thread.started_ticks);
    (void)append(journal, line, &place);
}

/* A program that was killed while it took a reservation back may have left the thread with next to nothing. */
static bool is_given(const struct undo_entry *entry, const struct thread_policy *now)
{
    bool is_one = thread_policy_is_parting(now);
    for (int i = 0; i < 2; i++)
        is_one |= now->runtime_ns == entry->given[i].budget_ns && now->period_ns == entry->given[i].period_ns;
    return now->kind == THREAD_DEADLINE && is_one;
}

/*
 * Puts a thread back that lives, if it still has what was given. If it has an ordinary policy again, it only gets its timer slack:
 * a program that was killed while it took the reservation back may not have come to that. Returns what undo_restore does, or -EPERM
 * as restore.
 */
static int restore_living(const struct undo_entry *entry, bool is_recorded)
{
    struct thread_policy now;
    const int error = thread_policy_get(entry->thread.thread, &now);
    if (error)
        return error == -ESRCH ? 0 : error;
    const bool has_given = is_given(entry, &now);
    if (!has_given && now.kind != THREAD_OTHER)
        return 0;
    if (is_recorded && !thread_ref_may_change(entry->thread.process))
        return has_given ? -EPERM : 0;
    const int refused = has_given ? thread_ordinary_set(entry->thread.thread, &entry->before) : 0;
    if (refused)
        return refused == -ESRCH ? 0 : refused;
    timer_slack_set(entry->thread.thread, entry->timer_slack_ns);
    return has_given;
}

/* As undo_restore. An entry that was read from a journal may be forged: then a thread of another user's is refused with -EPERM. */
static int restore(const struct undo_entry *entry, bool is_recorded)
{
    struct undo_entry heir = *entry;
    const int error = thread_ref_check(&entry->thread);
    if (!error)
        return restore_living(entry, is_recorded);
    if (error != -ESRCH)
        return error;
    const int unknown = thread_ref_open_after_exec(&heir.thread, &entry->thread);
    if (unknown)
        return unknown == -ESRCH ? 0 : unknown;
    const int restored = restore_living(&heir, is_recorded);
    thread_ref_close(&heir.thread);
    return restored;
}

int undo_restore(const struct undo_entry *entry)
{
    return restore(entry, false);
}

/* Parses a line of append_entry. Returns false for any other line, and for one that was written in part. */
static bool parse_give(const char *line, struct undo_entry *entry)
{
    int process, thread, number, resets, end = 0;
    unsigned long long started, process_started, stack;
    long long slice_ns, timer_slack_ns, budget_ns[2], period_ns[2];
    if (sscanf(line, "give %lld %lld %lld %lld %d %d %llu %llu %llu %d %d %lld %lld%n", &budget_ns[0], &period_ns[0], &budget_ns[1],
               &period_ns[1], &process, &thread, &started, &process_started, &stack, &number, &resets, &slice_ns, &timer_slack_ns,
               &end) != 13 || line[end] != '\n')
        return false;
    *entry = (struct undo_entry){
        .given = {{budget_ns[0], period_ns[0]}, {budget_ns[1], period_ns[1]}},
        .thread = {.process = process, .thread = thread, .started_ticks = started, .process_started_ticks = process_started,
                   .stack = stack},
        .before = {.number = number, .resets_on_fork = resets, .slice_ns = slice_ns},
        .timer_slack_ns = timer_slack_ns,
    };
    return process > 0 && thread > 0 && slice_ns >= 0;
}

/* Puts back a thread that an earlier process recorded. If its id belongs to another thread by now, it has ended. */
static int restore_recorded(const struct undo_entry *recorded)
{
    struct undo_entry entry = *recorded;
    const int error = thread_ref_open(&entry.thread, recorded->thread.process, recorded->thread.thread);
    if (error && error != -ESRCH)
        return error;
    const bool is_same = !error && entry.thread.started_ticks == recorded->thread.started_ticks;
    const int restored = restore(is_same ? &entry : recorded, true);
    thread_ref_close(&entry.thread);
    return restored;
}

/* Reads the next entry at or after *at, with the place after it. Returns false at the end. */
static bool next_give(const char **at, struct undo_entry *entry)
{
    while (**at) {
        const char *const line = *at;
        *at += strcspn(line, "\n");
        *at += **at == '\n';
        if (parse_give(line, entry))
            return true;
    }
    return false;
}

/* True if the journal records after this place that the entry is done. */
static bool is_done(const char *after, const struct undo_entry *entry)
{
    char line[LINE_SIZE];
    snprintf(line, sizeof line, "done %d %d %llu\n", (int)entry->thread.process, (int)entry->thread.thread,
             (unsigned long long)entry->thread.started_ticks);
    return strstr(after, line) != NULL;
}

char *undo_journal_text(const struct undo_journal *journal)
{
    struct stat status;
    if (fstat(journal->fd, &status))
        return NULL;
    char *const text = calloc(1, (size_t)status.st_size + 1);
    if (text && pread(journal->fd, text, (size_t)status.st_size, 0) < 0) {
        free(text);
        return NULL;
    }
    return text;
}

int undo_journal_undo(struct undo_journal *journal)
{
    char *const text = undo_journal_text(journal);
    if (!text)
        return -errno;
    const char *at = text;
    struct undo_entry entry;
    int count = 0, error = 0;
    while (next_give(&at, &entry)) {
        const int restored = is_done(at, &entry) ? 0 : restore_recorded(&entry);
        if (restored < 0)
            error = restored;
        else
            count += restored;
    }
    free(text);
    return error ? error : count;
}

void undo_journal_remove(struct undo_journal *journal)
{
    if (!journal->fd)
        return;
    unlink(journal->path);
    close(journal->fd);
    journal->fd = 0;
}

/* Opens and locks a journal that nobody holds. Returns false if somebody does, or if it is not a file of this user's own. */
static bool open_left(struct undo_journal *journal)
{
    struct stat status;
    const int fd = open(journal->path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid() || flock(fd, LOCK_EX | LOCK_NB)) {
        close(fd);
        return false;
    }
    journal->fd = fd;
    return true;
}

static bool is_journal(const char *name, enum undo_kind kind)
{
    const size_t length = strlen(name), tail = strlen(suffixes[kind]);
    return length > tail && !strcmp(name + length - tail, suffixes[kind]);
}

/* Finds the next journal that nobody holds, and locks it. Returns false after the last one. */
static bool next_left(DIR *dir, const char *folder, enum undo_kind kind, struct undo_journal *journal)
{
    for (const struct dirent *entry; (entry = readdir(dir));) {
        *journal = (struct undo_journal){.fd = 0};
        if (is_journal(entry->d_name, kind) &&
            snprintf(journal->path, sizeof journal->path, "%s/%s", folder, entry->d_name) < (int)sizeof journal->path &&
            open_left(journal))
            return true;
    }
    return false;
}

int undo_journals_repair_of(enum undo_kind kind, int (*undo)(struct undo_journal *journal), int *journals)
{
    char folder[OWN_FOLDER_SIZE];
    struct undo_journal journal;
    int count = 0, error = own_folder(folder);
    *journals = 0;
    DIR *const dir = error ? NULL : opendir(folder);
    while (dir && next_left(dir, folder, kind, &journal)) {
        const int restored = undo(&journal);
        (*journals)++;
        if (restored < 0) {
            error = restored;
            close(journal.fd);
            continue;
        }
        count += restored;
        undo_journal_remove(&journal);
    }
    if (dir)
        closedir(dir);
    return error ? error : count;
}

int undo_journals_repair(int *journals)
{
    return undo_journals_repair_of(UNDO_RESERVATIONS, undo_journal_undo, journals);
}

int undo_journals_left(void)
{
    char folder[OWN_FOLDER_SIZE];
    struct undo_journal journal;
    int count = 0;
    DIR *const dir = own_folder(folder) ? NULL : opendir(folder);
    for (int kind = 0; dir && kind < KINDS; kind++) {
        rewinddir(dir);
        for (; next_left(dir, folder, kind, &journal); count++)
            close(journal.fd);
    }
    if (dir)
        closedir(dir);
    return count;
}
