/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "bounded_queue.h"

#include <oml_exceptions_namespace.h>

static define_exception(ENoMemory) extends(oml_error);

static Queue q;

static int fill(int items) {
  try {
    for (int i = 0; i < items; i++)
      queue_put(&q, i);
    ereturn(items);
  }
  handle
    when(EQueueFull) {
      puts("full");
    }
  end
  return QUEUE_ROOM;
}

static void drain(void) {
  volatile int sum = 0;
  try
    for (;;)
      sum += queue_get(&q);
  finally
    printf("sum %d\n", sum);
  handle
    when(EQueueFull)
      puts("not this");
    when(any)
      puts("passed on");
      rethrow
  end;
}

/* As in the paper: the memory is allocated in a protected section, and released in finally. */
static void with_memory(size_t bytes) {
  const struct timespec soon = { .tv_sec = 0, .tv_nsec = 100000000 };
  char *volatile memory = NULL;
  try_within_rel(soon) {
    try_within_disable();
    memory = bytes < 1000 ? malloc(bytes) : NULL;
    if (memory == NULL)
      throw(ENoMemory);
    try_within_enable();
    for (;;)
      memory[0] = 1;
  }
  finally {
    puts(memory ? "given back" : "nothing to give back");
    free(memory);
  }
  handle
    when(ENoMemory) {
      puts("no memory");
    }
    when(oml_ex_deadline_violation) {
      puts("out of time");
    }
  end;
}

int main(void) {
  printf("%d in\n", fill(2));
  printf("%d in\n", fill(2));
  try
    drain();
  handle
    when(EQueueEmpty)
      puts("empty");
  end
  with_memory(100);
  with_memory(1000);
  return 0;
}
