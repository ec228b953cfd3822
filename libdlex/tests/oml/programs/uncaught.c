/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <oml_exceptions.h>
#include <stdio.h>
#include <stdlib.h>

oml_define_exception(EDiskFull) oml_extends(oml_error);

static oml_pfv before;

void last_words()
{
  oml_print_exception();
  puts("the terminate handler of the program");
  fflush(stdout);
  (*before)();
  puts("not reached: the first handler aborts");
}

int main()
{
  before = oml_set_terminate(&last_words);
  if (oml_set_terminate(&last_words) != &last_words)
    puts("the handler before is not told");
  oml_try {
    oml_throw(oml_error);
  } oml_handle
    oml_when(oml_error) {
      oml_print_exception();
    }
  oml_end
  oml_print_exception(); /* handled: prints nothing */
  oml_try {
    oml_throw(EDiskFull);
  } oml_finally {
    oml_print_exception();
    puts("finally");
  } oml_handle
    oml_when(oml_ex_time_constr_violation) {
      puts("not this");
    }
  oml_end
  puts("not reached");
  return EXIT_FAILURE;
}
