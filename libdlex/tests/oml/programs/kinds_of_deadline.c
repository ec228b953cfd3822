/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <oml_exceptions.h>
#include <stdio.h>
#include <time.h>

oml_define_exception(EUnreachable) oml_extends(oml_exception);

void spin() {
  for (;;)
    ;
  oml_throw(EUnreachable);
}

int main() {
  struct timespec until, span = { .tv_sec = 0, .tv_nsec = 50000000 };

  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += 1;
  puts("one second from now");
  oml_try_within_abs(until) {
    spin();
  }
  oml_handle
    oml_when (oml_ex_deadline_violation) {
      puts("the absolute deadline");
    }
    oml_when (oml_ex_time_constr_violation) {
      puts("some constraint on time");
    }
    oml_when (oml_exception) {
      puts("anything");
    }
  oml_end;

  puts("a twentieth of a second");
  oml_try_within_rel(span) {
    spin();
  }
  oml_handle
    oml_when (EUnreachable) {
      puts("what is never thrown");
    }
    oml_when (oml_ex_time_constr_violation) {
      puts("some constraint on time");
    }
    oml_when (oml_ex_deadline_violation) {
      puts("the relative deadline");
    }
  oml_end

  puts("a twentieth of a second of CPU time");
  oml_try_within_wcet(span) {
    spin();
  }
  oml_handle
    oml_when (oml_ex_deadline_violation) {
      puts("a deadline");
    }
    oml_when (oml_ex_wcet_violation) {
      puts("the WCET");
    }
  oml_end;
  return 0;
}
