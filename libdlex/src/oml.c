/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What oml_exceptions.h needs beyond dlex/: the error type, the terminate handler without arguments,
 * and the exception in flight, which OML keeps per thread and not per block.
 */
#include <stdio.h>
#include <stdlib.h>

#include <oml_exceptions.h>

#include "thread.h"

const oml_exception_struct oml_error = { "oml_error", &dlex_exception };

/* The exception with which the running finally part or handler began. */
static __thread const struct dlex_type *in_flight;

static void name_and_abort(void)
{
    if (in_flight)
        fprintf(stderr, "libdlex: %s was not caught by any block; the program aborts\n",
                in_flight->name);
    abort();
}

/* Exchanged by oml_set_terminate, read where an exception ends the program. */
static oml_pfv terminate_handler = name_and_abort;

static void on_uncaught(const struct dlex_type *type, const char *origin)
{
    (void)origin;
    in_flight = type;
    const oml_pfv handler = __atomic_load_n(&terminate_handler, __ATOMIC_ACQUIRE);
    if (handler != name_and_abort) /* name_and_abort is left to libdlex, whose own message says more. */
        handler();
}

oml_pfv oml_set_terminate(oml_pfv handler)
{
    const oml_pfv next = handler ? handler : name_and_abort;
    const oml_pfv before = __atomic_exchange_n(&terminate_handler, next, __ATOMIC_ACQ_REL);
    dlex_set_terminate(on_uncaught);
    return before;
}

void oml_print_exception(void)
{
    if (in_flight)
        puts(in_flight->name);
}

int oml_context_(void)
{
    return dlex_thread_state.level - 1;
}

int oml_hold_(struct dlex_block_ *block)
{
    const int holds = dlex_hold_(block);
    if (holds)
        in_flight = block->exception;
    return holds;
}

int oml_catches_(struct dlex_block_ *block, const struct dlex_type *type)
{
    const int catches = dlex_catches_(block, type);
    if (catches)
        in_flight = block->exception;
    return catches;
}

void oml_finish_(struct dlex_block_ *block)
{
    if (block->phase == DLEX_DONE_ && block->handled)
        in_flight = NULL;
    dlex_finish_(block);
}
