/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the bins of H.264's arithmetic code, CABAC (ITU-T H.264, 9.3.4). */
#ifndef CABAC_WRITER_H
#define CABAC_WRITER_H

#include <stdbool.h>

#include "bit_writer.h"

/* How the state of a context begins: the values m and n of tables 9-12 to 9-33. */
struct cabac_context {
    int index; /* ctxIdx */
    int m;
    int n;
};

enum { CABAC_CONTEXTS = 460 }; /* those that field_cabac.c uses are below */

struct cabac_writer {
    struct bit_writer *bits;
    uint32_t low;
    uint32_t range;
    int outstanding;
    bool first;
    struct { uint8_t state, likely; } contexts[CABAC_CONTEXTS];
};

/* Begins the code of a slice. The bits are aligned; contexts that are not in the list must not be used. */
void cabac_start(struct cabac_writer *writer, struct bit_writer *bits, const struct cabac_context *contexts, int count,
                 int qp);

/* Begins the code again, behind samples that are not coded. The contexts keep their states. */
void cabac_restart(struct cabac_writer *writer);

void cabac_put(struct cabac_writer *writer, int context, bool bin);
void cabac_put_bypass(struct cabac_writer *writer, bool bin);

/* Writes the bin that says whether the code ends here. After true, the bits end with a one, which in a slice is the stop bit. */
void cabac_put_end(struct cabac_writer *writer, bool ends);

#endif
