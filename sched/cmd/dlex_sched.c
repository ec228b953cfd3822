/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dlex-sched: finds out at which rate programs work, and gives them the CPU time that they need. */
#include "commands.h"
#include "standard_output.h"
#include "user_command.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char *name;
    char *full_name; /* for messages; getopt wants it writable */
    int (*run)(int argc, char **argv);
    const char *purpose;
} commands[] = {
    {"tune", (char[]){"dlex-sched tune"}, tune_command, "give a player the CPU time that it needs, while it plays"},
    {"period", (char[]){"dlex-sched period"}, period_command, "find the rate at which a program's threads work"},
    {"rm", (char[]){"dlex-sched rm"}, rm_command, "run programs under rate-monotonic priorities, or list them"},
    {"repair", (char[]){"dlex-sched repair"}, repair_command, "give back what a killed tune or dwcs has left changed"},
    {"doctor", (char[]){"dlex-sched doctor"}, doctor_command, "report what this machine allows, and what would allow the rest"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* These read files, for which they need the Python packages of the laboratory. `instead`: what is installed in their place. */
static const struct source_command {
    const char *name;
    const char *instead;
    const char *purpose;
} source_commands[] = {
    {"pman", "dlex-sched-pman(1) runs a graph that is given by options", "run a graph of processes"},
    {"dwcs", "dlex-sched-dwcs(1) schedules processes that are given by options", "schedule processes by windows of periods"},
    {"sim", NULL, "simulate windows and events"},
};
enum { SOURCE_COMMANDS = sizeof source_commands / sizeof source_commands[0] };

static void print_help(FILE *out)
{
    fputs("Usage: dlex-sched COMMAND [OPTION ...]\n\n", out);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-8s%s\n", commands[i].name, commands[i].purpose);
    fputs("\ndlex-sched COMMAND --help explains each.\n\nOnly in the sources of dlex, as ./dlex sched COMMAND:\n\n", out);
    for (int i = 0; i < SOURCE_COMMANDS; i++)
        fprintf(out, "  %-8s%s\n", source_commands[i].name, source_commands[i].purpose);
}

/* Says where a command is that is not installed. Returns false if there is no such command. */
static bool point_to_sources(const char *name)
{
    for (int i = 0; i < SOURCE_COMMANDS; i++) {
        const struct source_command *const command = &source_commands[i];
        if (strcmp(name, command->name))
            continue;
        fprintf(stderr, "dlex-sched: %s is not installed; run ./dlex sched %s in the sources of dlex%s%s\n", name, name,
                command->instead ? "; " : "", command->instead ? command->instead : "");
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    const char *const name = argc > 1 ? argv[1] : "";
    standard_output_begin("dlex-sched", EXIT_IMPOSSIBLE);
    if (!user_command_begin("dlex-sched"))
        return EXIT_IMPOSSIBLE;
    signal(SIGCHLD, SIG_DFL); /* ignored, it would hide how children end */
    if (!strcmp(name, "--help")) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (!strcmp(name, "--version")) {
        puts("dlex-sched " PROGRAM_VERSION);
        return EXIT_DONE;
    }
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(name, commands[i].name))
            continue;
        argv[1] = commands[i].full_name;
        return commands[i].run(argc - 1, argv + 1);
    }
    if (point_to_sources(name))
        return EXIT_IMPOSSIBLE;
    print_help(stderr);
    return EXIT_USAGE;
}
