/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * protection_keys.h: saves and restores the thread's rights to memory with protection keys, pkeys(7). A signal
 * handler does not inherit them: the kernel starts it with the default ones, which allow key 0 only, and a jump
 * out of the handler would keep those. On x86 they are the register PKRU. ARM64 has POR_EL0 since Linux 6.12:
 * that one is not restored, since no machine was at hand to see that it works.
 */
#ifndef DLEX_PROTECTION_KEYS_H
#define DLEX_PROTECTION_KEYS_H

#include <stdint.h>

/* Where there are no protection keys. As rights this value would deny all memory. */
#define NO_PROTECTION_KEYS UINT32_MAX

#if defined(__x86_64__) || defined(__i386__)

#include <stdbool.h>

/* Whether processor and kernel have them. Set by a constructor: a block that is opened before restores nothing. */
extern bool dlex_has_protection_keys;

static inline uint32_t protection_keys_rights(void)
{
    uint32_t rights, zero;
    __asm__ __volatile__(".byte 0x0f, 0x01, 0xee" /* rdpkru */ : "=a"(rights), "=d"(zero) : "c"(0));
    return rights;
}

static inline uint32_t protection_keys_save(void)
{
    return dlex_has_protection_keys ? protection_keys_rights() : NO_PROTECTION_KEYS;
}

/* The memory is clobbered: no access may move to the side with the other rights. */
static inline void protection_keys_set(uint32_t rights)
{
    __asm__ __volatile__(".byte 0x0f, 0x01, 0xef" /* wrpkru */ : : "a"(rights), "c"(0), "d"(0) : "memory");
}

static inline void protection_keys_restore(uint32_t rights)
{
    if (rights != NO_PROTECTION_KEYS && rights != protection_keys_rights())
        protection_keys_set(rights);
}

/* In the signal handler: the records of blocks may be in memory of any key. */
static inline void protection_keys_allow_all(void)
{
    if (dlex_has_protection_keys)
        protection_keys_set(0);
}

#else

static inline uint32_t protection_keys_save(void) { return NO_PROTECTION_KEYS; }
static inline void protection_keys_restore(uint32_t rights) { (void)rights; }
static inline void protection_keys_allow_all(void) { }

#endif

#endif
