/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formatted input and output. The functions that write into strings are here because they allocate. */
#include <stdio.h>

#include "guard.h"

GUARDED(int, vprintf, (const char *format, va_list ap), (format, ap))
GUARDED(int, vfprintf, (FILE *f, const char *format, va_list ap), (f, format, ap))
GUARDED(int, vdprintf, (int fd, const char *format, va_list ap), (fd, format, ap))
GUARDED(int, vsprintf, (char *s, const char *format, va_list ap), (s, format, ap))
GUARDED(int, vsnprintf, (char *s, size_t n, const char *format, va_list ap), (s, n, format, ap))
GUARDED(int, vasprintf, (char **s, const char *format, va_list ap), (s, format, ap))
GUARDED_DOTS(printf, (const char *format, ...), format, vprintf, (format, ap))
GUARDED_DOTS(fprintf, (FILE *f, const char *format, ...), format, vfprintf, (f, format, ap))
GUARDED_DOTS(dprintf, (int fd, const char *format, ...), format, vdprintf, (fd, format, ap))
GUARDED_DOTS(sprintf, (char *s, const char *format, ...), format, vsprintf, (s, format, ap))
GUARDED_DOTS(snprintf, (char *s, size_t n, const char *format, ...), format,
             vsnprintf, (s, n, format, ap))
GUARDED_DOTS(asprintf, (char **s, const char *format, ...), format, vasprintf, (s, format, ap))
int __asprintf(char **s, const char *format, ...);
GUARDED_DOTS(__asprintf, (char **s, const char *format, ...), format, vasprintf, (s, format, ap))

/*
 * The scanf family. The C standard that a program is compiled for decides which of three names it
 * calls, and <stdio.h> would decide it here. So the functions here have C names of their own, and the
 * real names for the linker.
 */
#define GUARDED_SCANF(id, prefix)                                                               \
    int id##vscanf(const char *format, va_list ap) __asm__(prefix "vscanf");                    \
    int id##vfscanf(FILE *f, const char *format, va_list ap) __asm__(prefix "vfscanf");         \
    int id##vsscanf(const char *s, const char *format, va_list ap) __asm__(prefix "vsscanf");   \
    int id##scanf(const char *format, ...) __asm__(prefix "scanf");                             \
    int id##fscanf(FILE *f, const char *format, ...) __asm__(prefix "fscanf");                  \
    int id##sscanf(const char *s, const char *format, ...) __asm__(prefix "sscanf");            \
    GUARD_SYMBOL_NAMED(id##vscanf, prefix "vscanf")                                             \
    GUARD_SYMBOL_NAMED(id##vfscanf, prefix "vfscanf")                                           \
    GUARD_SYMBOL_NAMED(id##vsscanf, prefix "vsscanf")                                           \
    GUARDED_BODY(int, id##vscanf, (const char *format, va_list ap), (format, ap))               \
    GUARDED_BODY(int, id##vfscanf, (FILE *f, const char *format, va_list ap), (f, format, ap))  \
    GUARDED_BODY(int, id##vsscanf, (const char *s, const char *format, va_list ap),             \
                 (s, format, ap))                                                               \
    GUARDED_DOTS(id##scanf, (const char *format, ...), format, id##vscanf, (format, ap))        \
    GUARDED_DOTS(id##fscanf, (FILE *f, const char *format, ...), format, id##vfscanf,           \
                 (f, format, ap))                                                               \
    GUARDED_DOTS(id##sscanf, (const char *s, const char *format, ...), format, id##vsscanf,     \
                 (s, format, ap))

GUARDED_SCANF(c89_, "")
GUARDED_SCANF(c99_, "__isoc99_")
GUARDED_SCANF(c23_, "__isoc23_")
