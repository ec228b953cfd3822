/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions that calls become with -D_FORTIFY_SOURCE. No header declares these. */
#include <stdio.h>
#include <wchar.h>

#include "guard.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define DECLARED(type, fn, params, args) type fn params; GUARDED(type, fn, params, args)
#define DECLARED_DOTS(fn, params, last, vfn, args)                                              \
    int fn params; GUARDED_DOTS(fn, params, last, vfn, args)

DECLARED(int, __vprintf_chk, (int flag, const char *format, va_list ap), (flag, format, ap))
DECLARED(int, __vfprintf_chk, (FILE *f, int flag, const char *format, va_list ap),
         (f, flag, format, ap))
DECLARED(int, __vdprintf_chk, (int fd, int flag, const char *format, va_list ap),
         (fd, flag, format, ap))
DECLARED(int, __vsprintf_chk, (char *s, int flag, size_t room, const char *format, va_list ap),
         (s, flag, room, format, ap))
DECLARED(int, __vsnprintf_chk,
         (char *s, size_t n, int flag, size_t room, const char *format, va_list ap),
         (s, n, flag, room, format, ap))
DECLARED(int, __vasprintf_chk, (char **s, int flag, const char *format, va_list ap),
         (s, flag, format, ap))
DECLARED_DOTS(__printf_chk, (int flag, const char *format, ...), format,
              __vprintf_chk, (flag, format, ap))
DECLARED_DOTS(__fprintf_chk, (FILE *f, int flag, const char *format, ...), format,
              __vfprintf_chk, (f, flag, format, ap))
DECLARED_DOTS(__dprintf_chk, (int fd, int flag, const char *format, ...), format,
              __vdprintf_chk, (fd, flag, format, ap))
DECLARED_DOTS(__sprintf_chk, (char *s, int flag, size_t room, const char *format, ...), format,
              __vsprintf_chk, (s, flag, room, format, ap))
DECLARED_DOTS(__snprintf_chk,
              (char *s, size_t n, int flag, size_t room, const char *format, ...), format,
              __vsnprintf_chk, (s, n, flag, room, format, ap))
DECLARED_DOTS(__asprintf_chk, (char **s, int flag, const char *format, ...), format,
              __vasprintf_chk, (s, flag, format, ap))

DECLARED(char *, __gets_chk, (char *s, size_t room), (s, room))
DECLARED(char *, __fgets_chk, (char *s, size_t room, int n, FILE *f), (s, room, n, f))
DECLARED(char *, __fgets_unlocked_chk, (char *s, size_t room, int n, FILE *f), (s, room, n, f))
DECLARED(size_t, __fread_chk, (void *to, size_t room, size_t size, size_t n, FILE *f),
         (to, room, size, n, f))
DECLARED(size_t, __fread_unlocked_chk, (void *to, size_t room, size_t size, size_t n, FILE *f),
         (to, room, size, n, f))

DECLARED(int, __vwprintf_chk, (int flag, const wchar_t *format, va_list ap), (flag, format, ap))
DECLARED(int, __vfwprintf_chk, (FILE *f, int flag, const wchar_t *format, va_list ap),
         (f, flag, format, ap))
DECLARED(int, __vswprintf_chk,
         (wchar_t *s, size_t n, int flag, size_t room, const wchar_t *format, va_list ap),
         (s, n, flag, room, format, ap))
DECLARED_DOTS(__wprintf_chk, (int flag, const wchar_t *format, ...), format,
              __vwprintf_chk, (flag, format, ap))
DECLARED_DOTS(__fwprintf_chk, (FILE *f, int flag, const wchar_t *format, ...), format,
              __vfwprintf_chk, (f, flag, format, ap))
DECLARED_DOTS(__swprintf_chk,
              (wchar_t *s, size_t n, int flag, size_t room, const wchar_t *format, ...), format,
              __vswprintf_chk, (s, n, flag, room, format, ap))
DECLARED(wchar_t *, __fgetws_chk, (wchar_t *s, size_t room, int n, FILE *f), (s, room, n, f))
