/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keys from a terminal: the meaning of the bytes, and the behaviour on a real pseudo terminal.
 * Not covered: terminals that send unusual bytes for the arrow keys.
 */
#include "terminal.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

static void nap(void)
{
    nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL);
}

START_TEST(bytes_are_translated_to_keys)
{
    static const struct {
        const char *bytes;
        size_t used;
        enum input input;
    } keys[] = {
        {"", 0, INPUT_NONE},
        {"q", 1, INPUT_QUIT},
        {" ", 1, INPUT_PAUSE},
        {"pq", 1, INPUT_PAUSE},
        {"x", 1, INPUT_NONE},
        {"\033", 0, INPUT_NONE},
        {"\033[", 0, INPUT_NONE},
        {"\033O", 0, INPUT_NONE},
        {"\033[1;", 0, INPUT_NONE},
        {"\033\033", 1, INPUT_QUIT},
        {"\033[A", 3, INPUT_SEEK_FORWARD_60},
        {"\033[B", 3, INPUT_SEEK_BACK_60},
        {"\033[C", 3, INPUT_SEEK_FORWARD_10},
        {"\033OD", 3, INPUT_SEEK_BACK_10},
        {"\033[C\033[C", 3, INPUT_SEEK_FORWARD_10},
        {"\033[1;5C", 6, INPUT_NONE},
        {"\033[3~q", 4, INPUT_NONE},
        {"\033q", 2, INPUT_NONE},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        enum input input = INPUT_QUIT;
        ck_assert_uint_eq(terminal_decode(keys[i].bytes, strlen(keys[i].bytes), &input),
                          keys[i].used);
        ck_assert_int_eq(input, keys[i].input);
    }
}
END_TEST

START_TEST(stdin_that_is_not_a_terminal_is_not_changed)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    ck_assert_int_eq(write(ends[1], "q", 1), 1);
    terminal_start();
    ck_assert_int_eq(terminal_poll(), INPUT_NONE);
    terminal_restore();
    terminal_stop();
    char byte;
    ck_assert_int_eq(read(STDIN_FILENO, &byte, 1), 1);
}
END_TEST

/*
 * Runs in a child with its own terminal, as the leader of its session; `keyboard` is the other end of the terminal.
 * Returns the exit code; 0 means that all was as expected.
 */
typedef int scenario(int keyboard);

/* Runs the scenario. Returns its exit code, 99 if there is no terminal, or 98 if the scenario was stopped. */
static int run_on_terminal(scenario *play)
{
    const int keyboard = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert_int_ge(keyboard, 0);
    grantpt(keyboard);
    unlockpt(keyboard);
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        const int tty = open(ptsname(keyboard), O_RDWR);
        if (tty < 0 || ioctl(tty, TIOCSCTTY, 0) < 0 || dup2(tty, STDIN_FILENO) < 0)
            _exit(99);
        _exit(play(keyboard));
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    if (WIFSTOPPED(status))
        kill(child, SIGKILL);
    close(keyboard);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static tcflag_t line_modes(void)
{
    struct termios modes;
    tcgetattr(STDIN_FILENO, &modes);
    return modes.c_lflag & (ICANON | ECHO | ISIG);
}

static bool next_input_is(enum input expected)
{
    enum input input = INPUT_NONE;
    while (input == INPUT_NONE) {
        input = terminal_poll();
        nap();
    }
    return input == expected;
}

static bool type(int keyboard, const char *bytes)
{
    return write(keyboard, bytes, strlen(bytes)) == (ssize_t)strlen(bytes);
}

static int keys_without_enter(int keyboard)
{
    terminal_start();
    if (line_modes() != ISIG || terminal_poll() != INPUT_NONE)
        return 1;
    if (!type(keyboard, " \033[C\033[Bx\033") || !next_input_is(INPUT_PAUSE))
        return 2;
    if (!next_input_is(INPUT_SEEK_FORWARD_10) || !next_input_is(INPUT_SEEK_BACK_60))
        return 3;
    if (!next_input_is(INPUT_QUIT))
        return 4;
    terminal_stop();
    return line_modes() == (ICANON | ECHO | ISIG) ? 0 : 5;
}

START_TEST(keys_arrive_one_by_one_and_the_terminal_is_restored)
{
    ck_assert_int_eq(run_on_terminal(keys_without_enter), 0);
}
END_TEST

static int wake_by_key(int keyboard)
{
    terminal_start();
    terminal_poll();
    struct pollfd wake = {.fd = terminal_wake_fd(), .events = POLLIN};
    if (wake.fd < 0 || poll(&wake, 1, 0) != 0)
        return 1;
    if (!type(keyboard, "q") || poll(&wake, 1, 10000) != 1 || !next_input_is(INPUT_QUIT) || poll(&wake, 1, 0) != 0)
        return 2;
    terminal_stop();
    return terminal_wake_fd() == -1 ? 0 : 3;
}

START_TEST(a_key_ends_a_wait)
{
    ck_assert_int_eq(run_on_terminal(wake_by_key), 0);
}
END_TEST

/* Does what a shell does at Ctrl-Z and fg. */
static int lose_and_regain_modes(int keyboard)
{
    terminal_start();
    struct termios modes;
    tcgetattr(STDIN_FILENO, &modes);
    modes.c_lflag |= ICANON | ECHO;
    tcsetattr(STDIN_FILENO, TCSANOW, &modes);
    terminal_poll();
    if (line_modes() != ISIG)
        return 1;
    return type(keyboard, "q") && next_input_is(INPUT_QUIT) ? 0 : 2;
}

START_TEST(terminal_modes_are_set_again_after_a_stop)
{
    ck_assert_int_eq(run_on_terminal(lose_and_regain_modes), 0);
}
END_TEST

static int play_in_background(int keyboard)
{
    const pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        terminal_start();
        const bool unchanged = line_modes() == (ICANON | ECHO | ISIG);
        const bool silent = type(keyboard, "q\n") && terminal_poll() == INPUT_NONE && terminal_wake_fd() == -1;
        terminal_restore();
        terminal_stop();
        _exit(unchanged && silent && line_modes() == (ICANON | ECHO | ISIG) ? 0 : 1);
    }
    int status;
    waitpid(child, &status, WUNTRACED);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

START_TEST(a_player_in_the_background_is_not_stopped_and_changes_nothing)
{
    ck_assert_int_eq(run_on_terminal(play_in_background), 0);
}
END_TEST

static void restore_and_die(int signal)
{
    terminal_restore();
    _exit(signal == SIGTERM && line_modes() == (ICANON | ECHO | ISIG) ? 0 : 1);
}

static int die_by_signal(int keyboard)
{
    (void)keyboard;
    signal(SIGTERM, restore_and_die);
    terminal_start();
    raise(SIGTERM);
    return 2;
}

START_TEST(a_signal_handler_can_restore_the_terminal)
{
    ck_assert_int_eq(run_on_terminal(die_by_signal), 0);
}
END_TEST

static bool columns_are(int keyboard, int set, int expected)
{
    const struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)set};
    return ioctl(keyboard, TIOCSWINSZ, &size) == 0 && terminal_columns() == expected;
}

static int change_width(int keyboard)
{
    dup2(STDIN_FILENO, STDERR_FILENO);
    setenv("COLUMNS", "70", 1);
    if (!columns_are(keyboard, 132, 132) || !columns_are(keyboard, 20, 20))
        return 1;
    if (!columns_are(keyboard, 0, 70))
        return 2;
    static const char *const useless[] = {"", "-5", "0", "many", "99999999999999999999"};
    for (size_t i = 0; i < sizeof useless / sizeof *useless; i++) {
        setenv("COLUMNS", useless[i], 1);
        if (!columns_are(keyboard, 0, 80))
            return 3;
    }
    unsetenv("COLUMNS");
    return columns_are(keyboard, 0, 80) ? 0 : 4;
}

START_TEST(the_width_is_that_of_now)
{
    ck_assert_int_eq(run_on_terminal(change_width), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        bytes_are_translated_to_keys,
        stdin_that_is_not_a_terminal_is_not_changed,
        keys_arrive_one_by_one_and_the_terminal_is_restored,
        a_key_ends_a_wait,
        terminal_modes_are_set_again_after_a_stop,
        a_player_in_the_background_is_not_stopped_and_changes_nothing,
        a_signal_handler_can_restore_the_terminal,
        the_width_is_that_of_now,
        NULL,
    };
    return suite_run("terminal", 30, tests);
}
