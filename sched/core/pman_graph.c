/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Precedences of PMan's processes. */
#include "pman_release.h"

#include <errno.h>

/* Returns the process, its predecessors, theirs and so on. */
static uint64_t with_ancestors(const struct pman_table *table, int index)
{
    uint64_t found = pman_bit(index);
    for (uint64_t before = 0; before != found;) {
        before = found;
        for (int i = 0; i < table->used; i++)
            if (found & pman_bit(i))
                found |= table->process[i].predecessors;
    }
    return found;
}

int pman_table_precede(struct pman_table *table, const char *name, const char *predecessor)
{
    const int index = pman_table_find(table, name);
    const int before = pman_table_find(table, predecessor);
    if (index < 0 || before < 0)
        return -ENOENT;
    if (with_ancestors(table, before) & pman_bit(index))
        return -ELOOP;
    table->process[index].predecessors |= pman_bit(before);
    return 0;
}

int pman_table_unprecede(struct pman_table *table, const char *name, const char *predecessor, int64_t now_ns,
                         struct pman_out *out)
{
    out->count = 0;
    const int index = pman_table_find(table, name);
    const int before = pman_table_find(table, predecessor);
    if (index < 0 || before < 0 || !(table->process[index].predecessors & pman_bit(before)))
        return -ENOENT;
    table->process[index].predecessors &= ~pman_bit(before);
    pman_stop_waiting(&table->process[index], before, now_ns);
    pman_release_ready(table, now_ns, out);
    return 0;
}
