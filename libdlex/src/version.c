/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlex/version.h>

const char *dlex_version(void)
{
    return DLEX_VERSION;
}
