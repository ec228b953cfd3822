/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "commands.h"

#include "dwcs_guard.h"
#include "own_proc.h"
#include "undo_journal.h"

#include <stdio.h>
#include <string.h>

int repair_command(int argc, char **argv)
{
    if (argc > 1) {
        const bool is_help = !strcmp(argv[1], "--help");
        fprintf(is_help ? stdout : stderr, "Usage: %s\n\nTakes back what killed runs of dlex-sched tune and dlex-sched-dwcs have "
                "left.\nRun it as the user who ran them: with sudo, if they were run with sudo.\n", argv[0]);
        return is_help ? EXIT_DONE : EXIT_USAGE;
    }
    if (!own_proc_check(argv[0]))
        return EXIT_IMPOSSIBLE;
    int of_tune, of_dwcs;
    const int threads = undo_journals_repair(&of_tune), processes = dwcs_guard_repair(&of_dwcs);
    if (threads < 0 || processes < 0) {
        fprintf(stderr, "%s: not everything could be taken back: %s; run it as the user who ran dlex-sched\n", argv[0],
                strerror(-(threads < 0 ? threads : processes)));
        return EXIT_IMPOSSIBLE;
    }
    if (of_tune)
        printf("%d threads were put back as they were, of %d killed runs.\n", threads, of_tune);
    if (of_dwcs)
        printf("%d processes were put back as they were, of %d killed runs of dwcs.\n", processes, of_dwcs);
    if (!of_tune && !of_dwcs)
        puts("There is nothing to repair.");
    return EXIT_DONE;
}
