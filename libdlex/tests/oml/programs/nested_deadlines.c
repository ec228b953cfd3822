/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <oml_exceptions.h>
#include <stdio.h>

static const struct timespec quarter = { 0, 250000000 }, hour = { 3600, 0 };

static void spin() {
  volatile unsigned turns = 0;
  for (;;)
    turns++;
}

/* The inner deadline expires first; the outer one is still an hour away. */
static void inner_expires() {
  oml_try_within_rel(hour) {
    oml_try_within_rel(quarter) {
      spin();
    }
    oml_handle
      oml_when (oml_ex_time_constr_violation) {
        oml_try_within_disable();
        puts("  inner handler");
        oml_try_within_enable();
      }
    oml_end;
    oml_try_within_disable();
    puts("  outer body goes on");
    oml_try_within_enable();
  }
  oml_handle
    oml_when (oml_ex_deadline_violation) {
      puts("  outer handler");
    }
  oml_end;
}

static void outer_expires() {
  oml_try_within_rel(quarter) {
    oml_try_within_rel(hour) {
      spin();
    }
    oml_finally {
      puts("  inner finally");
    }
    oml_handle
      oml_when (oml_ex_time_constr_violation) {
        puts("  inner handler");
      }
    oml_end;
    puts("  outer body goes on");
  }
  oml_finally {
    puts("  outer finally");
  }
  oml_handle
    oml_when (oml_ex_deadline_violation) {
      puts("  outer handler");
    }
    oml_when (oml_exception) {
      puts("  another outer handler");
    }
  oml_end;
}

int main() {
  puts("a quarter of a second in an hour:");
  inner_expires();
  puts("an hour in a quarter of a second:");
  outer_expires();
  return 0;
}
