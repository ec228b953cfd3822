/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Streams of wide characters. */
#include <stdio.h>
#include <wchar.h>

#include "guard.h"

GUARDED(int, fwide, (FILE *f, int mode), (f, mode))
GUARDED(wint_t, fgetwc, (FILE *f), (f))
GUARDED(wint_t, getwc, (FILE *f), (f))
GUARDED(wint_t, getwchar, (void), ())
GUARDED(wint_t, ungetwc, (wint_t c, FILE *f), (c, f))
GUARDED(wchar_t *, fgetws, (wchar_t *s, int n, FILE *f), (s, n, f))
GUARDED(wint_t, fputwc, (wchar_t c, FILE *f), (c, f))
GUARDED(wint_t, putwc, (wchar_t c, FILE *f), (c, f))
GUARDED(wint_t, putwchar, (wchar_t c), (c))
GUARDED(int, fputws, (const wchar_t *s, FILE *f), (s, f))
GUARDED(FILE *, open_wmemstream, (wchar_t **s, size_t *n), (s, n))

GUARDED(int, vwprintf, (const wchar_t *format, va_list ap), (format, ap))
GUARDED(int, vfwprintf, (FILE *f, const wchar_t *format, va_list ap), (f, format, ap))
GUARDED(int, vswprintf, (wchar_t *s, size_t n, const wchar_t *format, va_list ap),
        (s, n, format, ap))
GUARDED_DOTS(wprintf, (const wchar_t *format, ...), format, vwprintf, (format, ap))
GUARDED_DOTS(fwprintf, (FILE *f, const wchar_t *format, ...), format, vfwprintf, (f, format, ap))
GUARDED_DOTS(swprintf, (wchar_t *s, size_t n, const wchar_t *format, ...), format,
             vswprintf, (s, n, format, ap))

/* The wide scanf family, with names as in formatted.c. */
#define GUARDED_WSCANF(id, prefix)                                                              \
    int id##vwscanf(const wchar_t *format, va_list ap) __asm__(prefix "vwscanf");               \
    int id##vfwscanf(FILE *f, const wchar_t *format, va_list ap) __asm__(prefix "vfwscanf");    \
    int id##vswscanf(const wchar_t *s, const wchar_t *format, va_list ap)                       \
        __asm__(prefix "vswscanf");                                                             \
    int id##wscanf(const wchar_t *format, ...) __asm__(prefix "wscanf");                        \
    int id##fwscanf(FILE *f, const wchar_t *format, ...) __asm__(prefix "fwscanf");             \
    int id##swscanf(const wchar_t *s, const wchar_t *format, ...) __asm__(prefix "swscanf");    \
    GUARD_SYMBOL_NAMED(id##vwscanf, prefix "vwscanf")                                           \
    GUARD_SYMBOL_NAMED(id##vfwscanf, prefix "vfwscanf")                                         \
    GUARD_SYMBOL_NAMED(id##vswscanf, prefix "vswscanf")                                         \
    GUARDED_BODY(int, id##vwscanf, (const wchar_t *format, va_list ap), (format, ap))           \
    GUARDED_BODY(int, id##vfwscanf, (FILE *f, const wchar_t *format, va_list ap),               \
                 (f, format, ap))                                                               \
    GUARDED_BODY(int, id##vswscanf, (const wchar_t *s, const wchar_t *format, va_list ap),      \
                 (s, format, ap))                                                               \
    GUARDED_DOTS(id##wscanf, (const wchar_t *format, ...), format, id##vwscanf, (format, ap))   \
    GUARDED_DOTS(id##fwscanf, (FILE *f, const wchar_t *format, ...), format, id##vfwscanf,      \
                 (f, format, ap))                                                               \
    GUARDED_DOTS(id##swscanf, (const wchar_t *s, const wchar_t *format, ...), format,           \
                 id##vswscanf, (s, format, ap))

GUARDED_WSCANF(c89_, "")
GUARDED_WSCANF(c99_, "__isoc99_")
GUARDED_WSCANF(c23_, "__isoc23_")
