/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BOUNDED_QUEUE_H
#define BOUNDED_QUEUE_H

#include <oml_exceptions/oml_exceptions.h>

oml_declare_exception(EQueue);
oml_declare_exception(EQueueFull); /* extends EQueue */
extern const oml_exception_struct EQueueEmpty; /* extends EQueue */

enum { QUEUE_ROOM = 3 };

typedef struct {
  int items[QUEUE_ROOM];
  int first, count;
} Queue;

void queue_put(Queue *q, int item);
int queue_get(Queue *q);

#endif
