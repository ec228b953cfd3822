/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fpenv.h: saves and restores the floating-point control words. On x86 a signal handler does not
 * inherit them: the kernel starts it with the default ones, and a jump out of the handler would keep
 * those. fegetenv would do, but it is in libm and costs ten times as much.
 */
#ifndef DLEX_FPENV_H
#define DLEX_FPENV_H

#include <stdint.h>

#if defined(__x86_64__) || (defined(__i386__) && defined(__SSE__))

static inline void fpenv_save(uint32_t words[2])
{
    uint16_t x87;
    __asm__ __volatile__("stmxcsr %0" : "=m"(words[0]));
    __asm__ __volatile__("fnstcw %0" : "=m"(x87));
    words[1] = x87;
}

static inline void fpenv_restore(const uint32_t words[2])
{
    const uint16_t x87 = (uint16_t)words[1];
    __asm__ __volatile__("ldmxcsr %0" : : "m"(words[0]));
    __asm__ __volatile__("fldcw %0" : : "m"(x87));
}

#elif defined(__aarch64__)

static inline void fpenv_save(uint32_t words[2])
{
    uint64_t control;
    __asm__ __volatile__("mrs %0, fpcr" : "=r"(control));
    words[0] = (uint32_t)control;
    words[1] = 0;
}

static inline void fpenv_restore(const uint32_t words[2])
{
    __asm__ __volatile__("msr fpcr, %0" : : "r"((uint64_t)words[0]));
}

#else

static inline void fpenv_save(uint32_t words[2]) { words[0] = words[1] = 0; }
static inline void fpenv_restore(const uint32_t words[2]) { (void)words; }

#endif

#endif
