/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "terminal.h"

#include <dlex/dlex.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* The bytes of an arrow key come within a millisecond on a console, and within about ten over a network. */
static const int64_t lone_escape_ns = 50000000;

static struct {
    struct termios before; /* constant after `started` is set */
    struct termios during;
    volatile sig_atomic_t started; /* terminal_restore may read it in a handler */
    bool has_atexit;
    bool ended; /* stdin was closed at the other end */
    bool listens; /* the last terminal_poll could read */
    char bytes[32];
    size_t size;
    int64_t last_byte_ns;
} terminal;

/* Touching the terminal from the background would stop the process. */
static bool in_foreground(void)
{
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/*
 * Applies the modes if the process is in the foreground. The process may be put into the background
 * just after that check. SIGTTOU is blocked meanwhile, so that the kernel allows the call instead of
 * stopping the process.
 */
static void apply(const struct termios *modes)
{
    sigset_t ttou, before;
    sigemptyset(&ttou);
    sigaddset(&ttou, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &ttou, &before);
    if (in_foreground())
        tcsetattr(STDIN_FILENO, TCSANOW, modes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void terminal_start(void)
{
    if (terminal.started || !isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &terminal.before) < 0)
        return;
    terminal.during = terminal.before;
    terminal.during.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    terminal.during.c_cc[VMIN] = 0;
    terminal.during.c_cc[VTIME] = 0;
    terminal.size = 0;
    terminal.ended = false;
    terminal.started = 1;
    if (!terminal.has_atexit)
        terminal.has_atexit = atexit(terminal_restore) == 0;
    apply(&terminal.during);
}

void terminal_restore(void)
{
    const int saved_errno = errno;
    if (terminal.started)
        apply(&terminal.before);
    errno = saved_errno;
}

void terminal_stop(void)
{
    terminal_restore();
    terminal.started = 0;
}

/* The widest line that COLUMNS can ask for is longer than any line. */
enum { COLUMNS_USUAL = 80, COLUMNS_MAX = 10000 };

int terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char *const columns = getenv("COLUMNS");
    const long asked = columns ? strtol(columns, NULL, 10) : 0;
    return asked > 0 && asked <= COLUMNS_MAX ? (int)asked : COLUMNS_USUAL;
}

static enum input input_of_arrow(char letter)
{
    switch (letter) {
    case 'A':
        return INPUT_SEEK_FORWARD_60;
    case 'B':
        return INPUT_SEEK_BACK_60;
    case 'C':
        return INPUT_SEEK_FORWARD_10;
    case 'D':
        return INPUT_SEEK_BACK_10;
    default:
        return INPUT_NONE;
    }
}

/*
 * Decodes ESC [ parameters letter, or ESC O letter. With parameters it is a shifted arrow or another
 * key, which means nothing here.
 */
static size_t decode_sequence(const char *bytes, size_t size, enum input *input)
{
    size_t end = 2;
    while (end < size && bytes[end] >= 0x20 && bytes[end] < 0x40)
        end++;
    if (end >= size)
        return 0;
    *input = end == 2 ? input_of_arrow(bytes[end]) : INPUT_NONE;
    return end + 1;
}

size_t terminal_decode(const char *bytes, size_t size, enum input *input)
{
    *input = INPUT_NONE;
    if (size == 0)
        return 0;
    switch (bytes[0]) {
    case 'q':
        *input = INPUT_QUIT;
        return 1;
    case ' ':
    case 'p':
        *input = INPUT_PAUSE;
        return 1;
    case '\033':
        if (size == 1)
            return 0;
        if (bytes[1] == '[' || bytes[1] == 'O')
            return decode_sequence(bytes, size, input);
        if (bytes[1] != '\033')
            return 2; /* Alt plus a key */
        *input = INPUT_QUIT;
        return 1;
    default:
        return 1;
    }
}

/* Polls first: if the terminal is in line mode again, read would block until the end of the line. */
static void read_bytes(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    const size_t room = sizeof terminal.bytes - terminal.size;
    if (terminal.ended || room == 0 || poll(&in, 1, 0) <= 0)
        return;
    const ssize_t got = read(STDIN_FILENO, terminal.bytes + terminal.size, room);
    terminal.ended = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
    if (got <= 0)
        return;
    terminal.size += (size_t)got;
    terminal.last_byte_ns = dlex_now_ns();
}

/*
 * When the player stops, the shell sets its own terminal modes. It does not set the player's modes
 * again when the player continues.
 */
static void regain_modes(void)
{
    struct termios now;
    if (tcgetattr(STDIN_FILENO, &now) == 0 && (now.c_lflag & ICANON))
        apply(&terminal.during);
}

static size_t decode_lone_escape(enum input *input)
{
    if (dlex_now_ns() - terminal.last_byte_ns < lone_escape_ns)
        return 0;
    *input = INPUT_QUIT;
    return terminal.size;
}

enum input terminal_poll(void)
{
    enum input input = INPUT_NONE;
    terminal.listens = terminal.started && in_foreground();
    if (!terminal.listens)
        return input;
    regain_modes();
    read_bytes();
    while (terminal.size > 0 && input == INPUT_NONE) {
        size_t used = terminal_decode(terminal.bytes, terminal.size, &input);
        if (used == 0)
            used = decode_lone_escape(&input);
        if (used == 0)
            break;
        terminal.size -= used;
        memmove(terminal.bytes, terminal.bytes + used, terminal.size);
    }
    return input;
}

int terminal_wake_fd(void)
{
    return terminal.started && terminal.listens && !terminal.ended ? STDIN_FILENO : -1;
}
