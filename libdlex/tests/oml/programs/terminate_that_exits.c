/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <oml_exceptions.h>
#include <stdio.h>
#include <stdlib.h>

static void leave_orderly(void)
{
  oml_print_exception();
  puts("leaving");
  exit(3);
}

int main()
{
  struct timespec now = { 0, 0 };
  oml_set_terminate(leave_orderly);
  oml_try_within_rel(now)
    puts("not reached");
  oml_handle
    oml_when(oml_error)
      puts("not this");
  oml_end;
  return 0;
}
