/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <oml_exceptions.h>
#include <stdio.h>

static struct timespec long_after() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  now.tv_sec += 3600;
  return now;
}

static double from_one_block() {
  oml_try_within_abs(long_after()) {
    oml_ex_return(2.5);
  }
  oml_handle
    oml_when (oml_ex_time_constr_violation) {
      puts("too late");
    }
  oml_end;
  return 0;
}

static const char *from_two_blocks(int which) {
  oml_try_within_abs(long_after()) {
    struct timespec minute = { .tv_sec = 60, .tv_nsec = 0 };
    oml_try_within_rel(minute) {
      if (which == 0)
        oml_ex_return("from the body");
      oml_throw(oml_error);
    }
    oml_finally {
      puts("inner finally");
    }
    oml_handle
      oml_when (oml_error) {
        oml_ex_return("from the handler");
      }
    oml_end;
  }
  oml_finally {
    puts("outer finally");
  }
  oml_handle
  oml_end;
  return "from the end";
}

int main() {
  assert(__oml_ExcCurrentContext == -1);
  printf("%.1f\n", from_one_block());
  assert(__oml_ExcCurrentContext == -1);
  puts(from_two_blocks(0));
  puts(from_two_blocks(1));
  assert(__oml_ExcCurrentContext == -1);
  return 0;
}
