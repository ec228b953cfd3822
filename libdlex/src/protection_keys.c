/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protection_keys.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

bool dlex_has_protection_keys;

/* OSPKE: the kernel has switched them on. Asked once, since a virtual machine takes microseconds for an answer;
 * before the constructors of the program. */
__attribute__((constructor(101))) static void find_protection_keys(void)
{
    enum { FEATURES = 7, OSPKE = 1 << 4 };
    unsigned a, b, c, d;
    dlex_has_protection_keys = __get_cpuid_count(FEATURES, 0, &a, &b, &c, &d) && (c & OSPKE);
}
#endif
