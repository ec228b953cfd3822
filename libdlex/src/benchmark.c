/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a program that is compiled for measuring gets from the library: it opens its blocks here, and
 * when it ends the report is written. In one file, so that with the static library the one brings in
 * the other, and so that nothing below knows of the report.
 */
#include <unistd.h>

#include "report.h"

int dlex_benchmark_begin_(struct dlex_block_ *block, int64_t ns)
{
    return dlex_measure_begin(block, ns);
}

__attribute__((destructor)) static void report(void)
{
    if (dlex_sites_process() == (int)getpid())
        dlex_report_at_exit();
}
