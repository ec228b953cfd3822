/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program with the names that OML had before it had timing constraints. */
#include <oml_exceptions.h>
#include <stdio.h>
#include <stdlib.h>

extern const Exception EFile;
oml_declare_exception(EFileOpen);

oml_define_exception(EFile) oml_extends(EError);
oml_define_exception(EFileOpen) oml_extends(EFile);

static PFV before;

static void goodbye() {
  oml_print_exception();
  before = NULL;
  exit(3);
}

static const char *root_of(const struct Exception *e) {
  while (e->parent)
    e = e->parent;
  return e == &EException ? "EException" : "another root";
}

static int open_file(int number) {
  oml_try {
    if (number < 0)
      oml_throw(EFileOpen);
    oml_ereturn(number);
  }
  oml_handle
    oml_when (EFile) {
      puts("no such file");
    }
  oml_end
  return -1;
}

int main() {
  before = oml_set_terminate(goodbye);
  puts(root_of(&EFileOpen));
  printf("%d %d\n", open_file(3), open_file(-3));
  oml_try {
    oml_throw(EError);
  }
  oml_handle
    oml_when (EException) {
      puts("an error is an exception");
    }
  oml_end
  oml_throw(EError);
}
