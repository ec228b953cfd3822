/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "commands.h"

#include "undo_journal.h"

#include <stdio.h>
#include <string.h>

int repair_command(int argc, char **argv)
{
    if (argc > 1) {
        const bool is_help = !strcmp(argv[1], "--help");
        fprintf(is_help ? stdout : stderr, "Usage: %s\n\nTakes back the reservations that killed runs of dlex-sched have left.\n"
                "Run it as the user who ran dlex-sched: with sudo, if that was run with sudo.\n", argv[0]);
        return is_help ? EXIT_DONE : EXIT_USAGE;
    }
    int journals;
    const int threads = undo_journals_repair(&journals);
    if (threads < 0) {
        fprintf(stderr, "%s: not everything could be taken back: %s; run it as the user who ran dlex-sched\n", argv[0],
                strerror(-threads));
        return EXIT_IMPOSSIBLE;
    }
    if (journals)
        printf("%d threads were put back as they were, of %d killed runs.\n", threads, journals);
    else
        puts("There is nothing to repair.");
    return EXIT_DONE;
}
