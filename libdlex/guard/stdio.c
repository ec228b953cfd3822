/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams, except formatted (formatted.c, fortified.c) and wide (wide.c) input and output. A call that
 * waits, for a terminal or a pipe, delays a violation until it returns.
 */
#include <stdio.h>

#include "guard.h"

static void close_stream(void *stream)
{
    fclose(stream);
}

#define GUARDED_STREAM(fn, params, args)                                                        \
    GUARD_SYMBOL(fn)                                                                            \
    DLEX_API FILE *fn params                                                                    \
    {                                                                                           \
        const int depth = guard_enter();                                                        \
        return guard_hand_over(depth, NEXT(fn) args, close_stream);                             \
    }

GUARDED_STREAM(fopen, (const char *path, const char *mode), (path, mode))
GUARDED_STREAM(fopen64, (const char *path, const char *mode), (path, mode))
GUARDED_STREAM(tmpfile, (void), ())
GUARDED_STREAM(tmpfile64, (void), ())
/* The caller closes these, because the caller has what they are built on. */
GUARDED(FILE *, fdopen, (int fd, const char *mode), (fd, mode))
GUARDED(FILE *, fmemopen, (void *s, size_t n, const char *mode), (s, n, mode))
GUARDED(FILE *, open_memstream, (char **s, size_t *n), (s, n))
GUARDED(FILE *, fopencookie, (void *cookie, const char *mode, cookie_io_functions_t io),
        (cookie, mode, io))
GUARDED(FILE *, freopen, (const char *path, const char *mode, FILE *f), (path, mode, f))
GUARDED(FILE *, freopen64, (const char *path, const char *mode, FILE *f), (path, mode, f))
GUARDED(FILE *, popen, (const char *command, const char *mode), (command, mode))
GUARDED(int, pclose, (FILE *f), (f))
GUARDED(int, fclose, (FILE *f), (f))
GUARDED(int, fcloseall, (void), ())

GUARDED(int, fflush, (FILE *f), (f))
GUARDED(int, fflush_unlocked, (FILE *f), (f))
GUARDED(int, setvbuf, (FILE *f, char *s, int mode, size_t n), (f, s, mode, n))
GUARDED_VOID(setbuf, (FILE *f, char *s), (f, s))
GUARDED_VOID(setbuffer, (FILE *f, char *s, size_t n), (f, s, n))
GUARDED_VOID(setlinebuf, (FILE *f), (f))
GUARDED(int, feof, (FILE *f), (f))
GUARDED(int, ferror, (FILE *f), (f))
GUARDED_VOID(clearerr, (FILE *f), (f))
GUARDED_VOID(perror, (const char *s), (s))

GUARDED(int, fseek, (FILE *f, long at, int whence), (f, at, whence))
GUARDED(int, fseeko, (FILE *f, off_t at, int whence), (f, at, whence))
GUARDED(int, fseeko64, (FILE *f, off64_t at, int whence), (f, at, whence))
GUARDED(long, ftell, (FILE *f), (f))
GUARDED(off_t, ftello, (FILE *f), (f))
GUARDED(off64_t, ftello64, (FILE *f), (f))
GUARDED_VOID(rewind, (FILE *f), (f))
GUARDED(int, fgetpos, (FILE *f, fpos_t *at), (f, at))
GUARDED(int, fgetpos64, (FILE *f, fpos64_t *at), (f, at))
GUARDED(int, fsetpos, (FILE *f, const fpos_t *at), (f, at))
GUARDED(int, fsetpos64, (FILE *f, const fpos64_t *at), (f, at))

GUARDED(int, fgetc, (FILE *f), (f))
GUARDED(int, getc, (FILE *f), (f))
GUARDED(int, getchar, (void), ())
GUARDED(int, getw, (FILE *f), (f))
GUARDED(int, ungetc, (int c, FILE *f), (c, f))
GUARDED(char *, fgets, (char *s, int n, FILE *f), (s, n, f))
GUARDED(ssize_t, getline, (char **s, size_t *n, FILE *f), (s, n, f))
GUARDED(ssize_t, getdelim, (char **s, size_t *n, int end, FILE *f), (s, n, end, f))
GUARDED(ssize_t, __getdelim, (char **s, size_t *n, int end, FILE *f), (s, n, end, f))
GUARDED(size_t, fread, (void *to, size_t size, size_t n, FILE *f), (to, size, n, f))

GUARDED(int, fputc, (int c, FILE *f), (c, f))
GUARDED(int, putc, (int c, FILE *f), (c, f))
GUARDED(int, putchar, (int c), (c))
GUARDED(int, putw, (int w, FILE *f), (w, f))
GUARDED(int, fputs, (const char *s, FILE *f), (s, f))
GUARDED(int, puts, (const char *s), (s))
GUARDED(size_t, fwrite, (const void *from, size_t size, size_t n, FILE *f), (from, size, n, f))

/* <stdio.h> has macros with these names. */
#undef fread_unlocked
#undef fwrite_unlocked

/* Without its lock a stream still has a buffer that must not be left half moved. */
GUARDED(int, fgetc_unlocked, (FILE *f), (f))
GUARDED(int, getc_unlocked, (FILE *f), (f))
GUARDED(int, getchar_unlocked, (void), ())
GUARDED(char *, fgets_unlocked, (char *s, int n, FILE *f), (s, n, f))
GUARDED(size_t, fread_unlocked, (void *to, size_t size, size_t n, FILE *f), (to, size, n, f))
GUARDED(int, fputc_unlocked, (int c, FILE *f), (c, f))
GUARDED(int, putc_unlocked, (int c, FILE *f), (c, f))
GUARDED(int, putchar_unlocked, (int c), (c))
GUARDED(int, fputs_unlocked, (const char *s, FILE *f), (s, f))
GUARDED(size_t, fwrite_unlocked, (const void *from, size_t size, size_t n, FILE *f),
        (from, size, n, f))

/* The functions that compiled programs call where <stdio.h> has macros. */
int _IO_getc(FILE *f);
int _IO_putc(int c, FILE *f);
int __uflow(FILE *f);
int __overflow(FILE *f, int c);
GUARDED(int, _IO_getc, (FILE *f), (f))
GUARDED(int, _IO_putc, (int c, FILE *f), (c, f))
GUARDED(int, __uflow, (FILE *f), (f))
GUARDED(int, __overflow, (FILE *f, int c), (f, c))

/* A stream locked by its user counts as a mutex: nothing is delivered until it is unlocked. */
GUARD_SYMBOL(flockfile)
GUARD_SYMBOL(ftrylockfile)
GUARD_SYMBOL(funlockfile)

DLEX_API void flockfile(FILE *f)
{
    dlex_try_within_disable();
    NEXT(flockfile)(f);
    dlex_guard_.held = dlex_guard_.held + 1;
    dlex_try_within_enable();
}

DLEX_API int ftrylockfile(FILE *f)
{
    dlex_try_within_disable();
    const int busy = NEXT(ftrylockfile)(f);
    if (!busy)
        dlex_guard_.held = dlex_guard_.held + 1;
    dlex_try_within_enable();
    return busy;
}

DLEX_API void funlockfile(FILE *f)
{
    dlex_try_within_disable();
    NEXT(funlockfile)(f);
    if (dlex_guard_.held > 0)
        dlex_guard_.held = dlex_guard_.held - 1;
    dlex_try_within_enable();
}
