/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "thread.h"

#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))
__thread struct dlex_guard_ dlex_guard_ INITIAL_EXEC = {
    .deadline_ns = INT64_MAX, .cpu_limit_ns = INT64_MAX,
};
__thread struct thread_state dlex_thread_state INITIAL_EXEC;
