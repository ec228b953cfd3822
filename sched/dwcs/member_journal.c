/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "member_journal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Of a set of CPUs, two digits a byte, with the final 0; and of a line. */
enum { CPUS_SIZE = 2 * sizeof(cpu_set_t) + 1, LINE_SIZE = CPUS_SIZE + 320 };
_Static_assert(CPUS_SIZE == 257, "the formats below name the length");

static const char *cpus_text(const cpu_set_t *cpus, char text[CPUS_SIZE])
{
    const unsigned char *const bytes = (const unsigned char *)cpus;
    for (size_t i = 0; i < sizeof *cpus; i++)
        snprintf(&text[2 * i], 3, "%02x", bytes[i]);
    return text;
}

/* A shorter set is that of a line that was cut off. */
static bool parse_cpus(const char *text, cpu_set_t *cpus)
{
    unsigned char *const bytes = (unsigned char *)cpus;
    if (strlen(text) != CPUS_SIZE - 1 || strspn(text, "0123456789abcdef") != CPUS_SIZE - 1)
        return false;
    for (size_t i = 0; i < sizeof *cpus; i++)
        if (sscanf(&text[2 * i], "%2hhx", &bytes[i]) != 1)
            return false;
    return true;
}

int member_journal_note(const struct undo_journal *journal, const struct member_before *before)
{
    char line[LINE_SIZE], cpus[CPUS_SIZE];
    const struct thread_ordinary *const policy = &before->policy;
    snprintf(line, sizeof line, "\nmember %d %llu %llu %d %d %d %d %lld %d %lld %s\n", (int)before->main.process,
             (unsigned long long)before->main.started_ticks, (unsigned long long)before->joined_ticks, before->cpu, before->priority,
             policy->number, policy->resets_on_fork, (long long)policy->slice_ns, before->nice, (long long)before->timer_slack_ns,
             cpus_text(&before->cpus, cpus));
    return undo_journal_append(journal, line);
}

int member_journal_note_thread(const struct undo_journal *journal, const struct thread_before *one)
{
    char line[LINE_SIZE], cpus[CPUS_SIZE];
    snprintf(line, sizeof line, "\nthread %d %d %llu %s\n", (int)one->thread.process, (int)one->thread.thread,
             (unsigned long long)one->thread.started_ticks, cpus_text(&one->cpus, cpus));
    return undo_journal_append(journal, line);
}

static bool parse_member(const char *line, struct member_before *before)
{
    char cpus[CPUS_SIZE];
    int process, cpu, priority, number, resets, nice;
    unsigned long long started, joined;
    long long slice_ns, timer_slack_ns;
    if (sscanf(line, "member %d %llu %llu %d %d %d %d %lld %d %lld %256s", &process, &started, &joined, &cpu, &priority, &number,
               &resets, &slice_ns, &nice, &timer_slack_ns, cpus) != 11)
        return false;
    before->main = (struct thread_ref){.process = process, .thread = process, .started_ticks = started};
    before->policy = (struct thread_ordinary){.number = number, .resets_on_fork = resets, .slice_ns = slice_ns};
    before->joined_ticks = joined;
    before->cpu = cpu;
    before->priority = priority;
    before->nice = nice < 0 && geteuid() ? 0 : nice; /* an ordinary user could forge it, for what the process has started */
    before->timer_slack_ns = timer_slack_ns;
    before->is_left_alone = false;
    before->is_recorded = true;
    before->threads = 0;
    return process > 0 && cpu >= 0 && cpu < CPU_SETSIZE && slice_ns >= 0 && parse_cpus(cpus, &before->cpus);
}

/* Adds a thread of the member that was read last. Lines of other processes are left out. */
static void parse_thread(const char *line, struct member_before *before)
{
    char cpus[CPUS_SIZE];
    int process, thread;
    unsigned long long started;
    if (before->threads == MEMBER_THREADS || sscanf(line, "thread %d %d %llu %256s", &process, &thread, &started, cpus) != 4)
        return;
    struct thread_before *const one = &before->thread[before->threads];
    one->thread = (struct thread_ref){.process = process, .thread = thread, .started_ticks = started};
    before->threads += process == before->main.process && thread > 0 && parse_cpus(cpus, &one->cpus);
}

/* Copies the line at this place, and returns the place of the next one. A line that is too long is not one of a member's; it is cut. */
static const char *take_line(const char *at, char line[LINE_SIZE])
{
    const size_t length = strcspn(at, "\n");
    snprintf(line, LINE_SIZE, "%.*s", (int)(length < LINE_SIZE ? length : LINE_SIZE - 1), at);
    return at + length + (at[length] == '\n');
}

bool member_journal_next(const char **at, struct member_before *before)
{
    char line[LINE_SIZE];
    bool is_found = false;
    while (**at) {
        const char *const next = take_line(*at, line);
        const bool is_member = !strncmp(line, "member ", strlen("member "));
        if (is_member && is_found)
            return true;
        if (is_member)
            is_found = parse_member(line, before);
        else if (is_found)
            parse_thread(line, before);
        *at = next;
    }
    return is_found;
}
