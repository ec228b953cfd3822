/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Finds the user who called sudo; *user becomes NULL if that is not how we run. Only root believes the variable: root may set it
 * anyway. Returns 0, or -EPERM if there is no such user: the command must not run as root instead.
 */
static int find_sudo_user(const struct passwd **user)
{
    const char *const text = getenv("SUDO_UID");
    char *rest;
    *user = NULL;
    if (geteuid() || !text || !*text)
        return 0;
    errno = 0;
    const unsigned long id = strtoul(text, &rest, 10);
    if (*rest || errno || id != (uid_t)id)
        return -EPERM;
    *user = id ? getpwuid((uid_t)id) : NULL;
    return id && !*user ? -EPERM : 0;
}

static bool belongs_to(const char *folder, uid_t user)
{
    struct stat status;
    return !stat(folder, &status) && status.st_uid == user;
}

/* A runtime folder of somebody else's, such as root's, is of no use to this user. */
static void set_home(const struct passwd *user)
{
    char folder[32];
    const char *const runtime = getenv("XDG_RUNTIME_DIR");
    setenv("HOME", user->pw_dir, 1);
    setenv("USER", user->pw_name, 1);
    setenv("LOGNAME", user->pw_name, 1);
    setenv("SHELL", user->pw_shell, 1);
    snprintf(folder, sizeof folder, "/run/user/%u", (unsigned)user->pw_uid);
    if (runtime && belongs_to(runtime, user->pw_uid))
        return;
    if (belongs_to(folder, user->pw_uid))
        setenv("XDG_RUNTIME_DIR", folder, 1);
    else
        unsetenv("XDG_RUNTIME_DIR");
}

/* Becomes this user for good. Returns 0 or a negative errno. */
static int become(const struct passwd *user)
{
    if (initgroups(user->pw_name, user->pw_gid) || setresgid(user->pw_gid, user->pw_gid, user->pw_gid) ||
        setresuid(user->pw_uid, user->pw_uid, user->pw_uid))
        return -errno;
    if (!setuid(0)) /* must not be possible any more */
        return -EPERM;
    set_home(user);
    return 0;
}

/* Gives up all capabilities, also those that root would get back with exec. Returns 0 or a negative errno. */
static int give_up_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (!geteuid() && prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0))
        return -errno;
    /* Fails only on kernels without ambient capabilities. */
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return syscall(SYS_capset, &header, none) ? -errno : 0;
}

int user_command_code(int status)
{
    return WIFSIGNALED(status) ? COMMAND_SIGNALED + WTERMSIG(status) : WEXITSTATUS(status);
}

int user_command_become(char **argv)
{
    const struct passwd *user;
    int error = find_sudo_user(&user);
    if (!error && user)
        error = become(user);
    if (!error)
        error = give_up_capabilities();
    if (error)
        return error;
    execvp(argv[0], argv);
    return -errno;
}

int user_command_keep_only(int capability)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct had[_LINUX_CAPABILITY_U32S_3], kept[_LINUX_CAPABILITY_U32S_3] = {{0}};
    const int index = CAP_TO_INDEX(capability);
    const struct passwd *user;
    int error = find_sudo_user(&user);
    if (error || !user)
        return error;
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || syscall(SYS_capget, &header, had))
        return -errno;
    error = become(user);
    if (error)
        return error;
    /* In a container, root may lack it. */
    kept[index].permitted = kept[index].effective = had[index].permitted & CAP_TO_MASK(capability);
    return syscall(SYS_capset, &header, kept) ? -errno : 0;
}

/* Installed setuid, it would let everybody run commands as any user: what sudo says in the environment could be anybody's. */
static bool is_setuid(void)
{
    return getuid() != geteuid() || getgid() != getegid();
}

/* The standard files must exist, or a record would take the number of one, and get what is printed there. */
static bool open_standard_files(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO)
        if (fcntl(fd, F_SETFD, 0))
            return false;
    return fd >= 0 && !close(fd);
}

bool user_command_begin(const char *program)
{
    if (is_setuid()) {
        fprintf(stderr, "%s: it must not be installed setuid or setgid; use sudo, or `sudo setcap cap_sys_nice+ep` with its path\n",
                program);
        return false;
    }
    if (!open_standard_files()) {
        fprintf(stderr, "%s: cannot open /dev/null: %s\n", program, strerror(errno));
        return false;
    }
    return true;
}

static int create(const char *path)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return file < 0 ? -errno : file;
}

/* Creates a file with the rights of this user. The rights of this program are back when it returns; without them it must not go on. */
static int create_as(const struct passwd *user, const char *path)
{
    const gid_t group = getegid();
    const int count = getgroups(0, NULL);
    gid_t *const groups = calloc((size_t)count + 1, sizeof *groups);
    int file = -EPERM;
    if (!groups || getgroups(count, groups) != count) {
        free(groups);
        return -ENOMEM;
    }
    if (!initgroups(user->pw_name, user->pw_gid) && !setegid(user->pw_gid) && !seteuid(user->pw_uid))
        file = create(path);
    if (seteuid(0) || setegid(group) || setgroups((size_t)count, groups))
        abort();
    free(groups);
    return file;
}

int user_command_create_file(FILE **file, const char *path)
{
    const struct passwd *user;
    int error = find_sudo_user(&user);
    if (error)
        return error;
    const int fd = user ? create_as(user, path) : create(path);
    if (fd < 0)
        return fd;
    FILE *const opened = fdopen(fd, "w");
    if (!opened) {
        error = -errno;
        close(fd);
        return error;
    }
    *file = opened;
    return 0;
}

/* Becomes the command, or writes the errno to the pipe and ends. */
_Noreturn static void run_child(char **argv, const sigset_t *mask, int pipe)
{
    sigprocmask(SIG_SETMASK, mask, NULL);
    const int error = user_command_become(argv);
    (void)!write(pipe, &error, sizeof error);
    _exit(COMMAND_NOT_STARTED);
}

int user_command_start(char **argv, const sigset_t *mask, pid_t *process)
{
    int ends[2], error = 0;
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    const pid_t pid = fork();
    if (!pid)
        run_child(argv, mask, ends[1]);
    if (pid < 0)
        error = -errno;
    close(ends[1]);
    ssize_t got = 0;
    while (pid > 0 && (got = read(ends[0], &error, sizeof error)) < 0 && errno == EINTR)
        ;
    close(ends[0]);
    if (got > 0)
        waitpid(pid, NULL, 0);
    *process = error ? 0 : pid;
    return error;
}
