/* A disk that fails at the n-th write, for all libraries of a process: SQLite and tantivy, too. Used through LD_PRELOAD.

   FAULT_FOLDER: only files below it count. FAULT_AT: number of the attempt that fails, from 1. FAULT_ERROR: its errno.
   ENOSPC lasts, other errors happen once. FAULT_REPORT: file that gets a line for each attempt. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))

static atomic_long attempts;

static int refuses(const char *what, const char *path) {
    const char *folder = getenv("FAULT_FOLDER"), *report = getenv("FAULT_REPORT");
    if (!folder || strncmp(path, folder, strlen(folder)) != 0)
        return 0;
    long number = atomic_fetch_add(&attempts, 1) + 1, at = atol(getenv("FAULT_AT"));
    int error = atoi(getenv("FAULT_ERROR"));
    int fails = at && (number == at || (number > at && error == ENOSPC));
    if (report) {
        char line[5000];
        int length = snprintf(line, sizeof line, "%s%s %s\n", fails ? "! " : "", what, path + strlen(folder));
        int file = REAL(open)(report, O_WRONLY | O_APPEND | O_CREAT, 0600);
        if (file >= 0) {
            REAL(write)(file, line, length);
            close(file);
        }
    }
    if (fails)
        errno = error;
    return fails;
}

static int refuses_file(const char *what, int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return refuses(what, path);
}

#define BY_FILE(type, name, parameters, ...) \
    type name parameters { return refuses_file(#name, file) ? -1 : REAL(name)(__VA_ARGS__); }

BY_FILE(ssize_t, write, (int file, const void *data, size_t size), file, data, size)
BY_FILE(ssize_t, pwrite, (int file, const void *data, size_t size, off_t at), file, data, size, at)
BY_FILE(ssize_t, pwrite64, (int file, const void *data, size_t size, off64_t at), file, data, size, at)
BY_FILE(ssize_t, writev, (int file, const struct iovec *parts, int count), file, parts, count)
BY_FILE(int, fsync, (int file), file)
BY_FILE(int, fdatasync, (int file), file)
BY_FILE(int, ftruncate, (int file, off_t size), file, size)
BY_FILE(int, ftruncate64, (int file, off64_t size), file, size)

int rename(const char *from, const char *to) { return refuses("rename", to) ? -1 : REAL(rename)(from, to); }

#define OPEN(name)                                            \
    int name(const char *path, int flags, ...) {              \
        va_list rest;                                         \
        va_start(rest, flags);                                \
        mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0; \
        va_end(rest);                                         \
        if ((flags & O_CREAT) && refuses("open", path))       \
            return -1;                                        \
        return REAL(name)(path, flags, mode);                 \
    }

OPEN(open)
OPEN(open64)
