/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bounded_queue.h"

#include <oml_exceptions_namespace.h>

define_exception(EQueue) extends(oml_error);
define_exception(EQueueFull) extends(EQueue);
define_exception(EQueueEmpty) extends(EQueue);

void queue_put(Queue *q, int item) {
  if (q->count == QUEUE_ROOM)
    throw(EQueueFull);
  q->items[(q->first + q->count++) % QUEUE_ROOM] = item;
}

int queue_get(Queue *q) {
  if (q->count == 0)
    throw(EQueueEmpty);
  q->count--;
  const int item = q->items[q->first];
  q->first = (q->first + 1) % QUEUE_ROOM;
  return item;
}
