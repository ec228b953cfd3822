/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>

#include <dlex/block.h>
#include <dlex/version.h>

const char *dlex_version(void)
{
    return DLEX_VERSION;
}

void dlex_check_layout_(uint64_t layout, const char *version, const char *where)
{
    if (layout == dlex_layout_())
        return;
    fprintf(stderr, "libdlex: %s: this was compiled with headers of libdlex %s whose records differ from those of "
            "the library, which is libdlex %s; compile it again with the library's own headers; the program aborts\n",
            where, version, DLEX_VERSION);
    abort();
}
