/* Record each change that a process makes to files below one folder, in order, with its data. Used through LD_PRELOAD.

   RECORD_FOLDER: the folder. RECORD_JOURNAL: file outside it that gets the records; power_cut.py reads them.

   Some libraries make system calls without libc, so a seccomp filter traps the calls. Its handler makes each call itself,
   with a mark in the sixth argument that the filter lets through, and appends a record under one lock: records have the order
   of the calls. Nothing is really synced, a sync is only recorded. Pages of shared mappings are compared at each record.
   Linux on x86-64 only. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#define MARK 0x6c61726dL
#define PAGE 4096
#define MAPS 64
#define PARTS 1000

struct record {
    char kind[8];
    uint64_t inode;
    int64_t offset;
    uint64_t size;
    uint32_t path_length, target_length;
};

static struct map {
    int file;
    const char *now;
    char *before;
    size_t size;
    uint64_t inode;
} maps[MAPS];
static int map_count;
static int journal = -1;
static char folder[4096];
static atomic_flag locked = ATOMIC_FLAG_INIT;

/* The call itself: -errno after an error, as the kernel returns it. */
static long call(long number, long a, long b, long c, long d, long e, long f) {
    register long d_ __asm__("r10") = d, e_ __asm__("r8") = e, f_ __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(d_), "r"(e_), "r"(f_)
                     : "rcx", "r11", "memory");
    return result;
}

static long marked(long number, long a, long b, long c, long d, long e) { return call(number, a, b, c, d, e, MARK); }

static void put(char kind, uint64_t inode, int64_t offset, const char *path, const char *target, const struct iovec *data, int count, size_t size) {
    struct record head = {{kind}, inode, offset, size, strlen(path), strlen(target)};
    static struct iovec parts[PARTS + 3];
    parts[0] = (struct iovec){&head, sizeof head};
    parts[1] = (struct iovec){(void *)path, head.path_length};
    parts[2] = (struct iovec){(void *)target, head.target_length};
    int used = 3;
    for (; size && used - 3 < count; used++) {
        parts[used] = data[used - 3];
        if (parts[used].iov_len > size)
            parts[used].iov_len = size;
        size -= parts[used].iov_len;
    }
    if (size || marked(SYS_writev, journal, (long)parts, used, 0, 0) < 0)
        abort();
}

static void put_change(char kind, uint64_t inode, int64_t offset, const void *data, size_t size) {
    struct iovec part = {(void *)data, size};
    put(kind, inode, offset, "", "", &part, 1, size);
}

/* Name of an open file; 0 if it is not below the folder. */
static int below(long file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%ld", file);
    ssize_t length = readlink(link, path, 4095);
    if (length < 0)
        return 0;
    path[length] = 0;
    return strncmp(path, folder, strlen(folder)) == 0 && (path[strlen(folder)] == '/' || path[strlen(folder)] == 0);
}

/* Full name of a path; 0 if it is not below the folder. */
static int resolve(long directory, const char *path, char *full) {
    if (path[0] == '/') {
        snprintf(full, 4096, "%s", path);
    } else {
        char start[4096];
        if ((int)directory == AT_FDCWD ? !getcwd(start, sizeof start) : (below(directory, start), 0))
            return 0;
        snprintf(full, 4096, "%.2000s/%.2000s", start, path);
    }
    return strncmp(full, folder, strlen(folder)) == 0 && full[strlen(folder)] == '/';
}

static uint64_t inode_of(long file) {
    struct stat found;
    return fstat((int)file, &found) == 0 && !S_ISCHR(found.st_mode) ? found.st_ino : 0;
}

static uint64_t inode_at(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0 ? found.st_ino : 0;
}

static int is_there(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0;
}

static void put_mapped_pages(void) {
    for (struct map *each = maps; each < maps + map_count; each++) {
        struct stat found;
        if (!each->now || fstat(each->file, &found) != 0 || found.st_size < (off_t)each->size || !found.st_nlink) {
            each->now = NULL; /* what is unlinked does not count any more, what is cut must not be read */
            continue;
        }
        for (size_t at = 0; at < each->size; at += PAGE) {
            size_t size = each->size - at < PAGE ? each->size - at : PAGE;
            if (memcmp(each->now + at, each->before + at, size) != 0) {
                memcpy(each->before + at, each->now + at, size);
                put_change('W', each->inode, at, each->before + at, size);
            }
        }
    }
}

static void watch_map(long file, size_t size, long offset) {
    char path[4096];
    if (offset || map_count == MAPS || !below(file, path) || strstr(path, "-shm"))
        return; /* SQLite makes -shm again after a crash */
    struct map *each = &maps[map_count];
    long copy = fcntl((int)file, F_DUPFD_CLOEXEC, 200);
    long now = call(SYS_mmap, 0, size, PROT_READ, MAP_SHARED, copy, 0);
    long before = call(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy < 0 || now < 0 || before < 0)
        abort();
    memcpy((char *)before, (char *)now, size);
    *each = (struct map){(int)copy, (char *)now, (char *)before, size, inode_of(file)};
    map_count++;
}

static long write_parts(long number, const long *a) {
    long result = marked(number, a[0], a[1], a[2], a[3], a[4]);
    if (result <= 0)
        return result;
    int placed = number == SYS_pwrite64 || number == SYS_pwritev;
    int64_t at = placed ? a[3] : lseek((int)a[0], 0, SEEK_CUR) - result;
    struct iovec one = {(void *)a[1], a[2]};
    int many = number == SYS_writev || number == SYS_pwritev;
    const struct iovec *parts = many ? (const struct iovec *)a[1] : &one;
    int count = many ? (int)a[2] : 1;
    size_t left = result;
    while (left) { /* at most PARTS in one record */
        int some = count < PARTS ? count : PARTS;
        size_t size = 0;
        for (int n = 0; n < some; n++)
            size += parts[n].iov_len;
        size = size < left ? size : left;
        put('W', inode_of(a[0]), at, "", "", parts, some, size);
        left -= size, at += size, parts += some, count -= some;
    }
    return result;
}

static long send_file(const long *a) {
    static char piece[65536];
    char name[64];
    long result = marked(SYS_sendfile, a[0], a[1], a[2], a[3], 0);
    if (result <= 0)
        return result;
    snprintf(name, sizeof name, "/proc/self/fd/%ld", a[0]);
    long file = call(SYS_openat, AT_FDCWD, (long)name, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    int64_t at = lseek((int)a[0], 0, SEEK_CUR) - result, end = at + result;
    for (long size; at < end; at += size) {
        size = pread((int)file, piece, end - at < (int64_t)sizeof piece ? end - at : (int64_t)sizeof piece, at);
        if (size <= 0)
            abort();
        put_change('W', inode_of(a[0]), at, piece, size);
    }
    close((int)file);
    return result;
}

static long open_file(long number, const long *a) {
    char path[4096];
    long directory = number == SYS_openat ? a[0] : AT_FDCWD, flags = number == SYS_openat ? a[2] : a[1];
    int counts = resolve(directory, (const char *)(number == SYS_openat ? a[1] : a[0]), path);
    int nameless = (flags & O_TMPFILE) == O_TMPFILE, is_new = counts && !nameless && !is_there(path);
    long result = marked(number, a[0], a[1], a[2], a[3], 0);
    if (!counts || result < 0)
        return result;
    if (nameless || is_new)
        put(nameless ? 'N' : 'C', inode_of(result), 0, path, "", NULL, 0, 0);
    else if (flags & O_TRUNC)
        put_change('T', inode_of(result), 0, NULL, 0);
    return result;
}

static long rename_path(long number, const long *a) {
    char from[4096], to[4096];
    int at = number != SYS_rename;
    int counts = resolve(at ? a[0] : AT_FDCWD, (const char *)(at ? a[1] : a[0]), from);
    counts &= resolve(at ? a[2] : AT_FDCWD, (const char *)(at ? a[3] : a[1]), to);
    long result = marked(number, a[0], a[1], a[2], a[3], a[4]);
    if (counts && result == 0)
        put('R', inode_at(to), number == SYS_renameat2 ? a[4] : 0, from, to, NULL, 0, 0);
    return result;
}

/* Records a change of one name. */
static long change_name(char kind, long number, const long *a, long directory, long path) {
    char full[4096];
    int counts = resolve(directory, (const char *)path, full);
    long result = marked(number, a[0], a[1], a[2], a[3], a[4]);
    if (counts && result == 0)
        put(kind, inode_at(full), 0, full, kind == 'K' ? (const char *)a[0] : "", NULL, 0, 0);
    return result;
}

static long change_size(char kind, long number, const long *a, long size) {
    char path[4096];
    if (number == SYS_truncate) {
        int counts = resolve(AT_FDCWD, (const char *)a[0], path);
        long result = marked(number, a[0], a[1], 0, 0, 0);
        if (counts && result == 0)
            put_change(kind, inode_at(path), size, NULL, 0);
        return result;
    }
    long result = marked(number, a[0], a[1], a[2], a[3], 0);
    if (result == 0 && below(a[0], path))
        put_change(kind, inode_of(a[0]), size, NULL, 0);
    return result;
}

static long sync_file(const long *a) {
    char path[4096];
    if (!below(a[0], path))
        return 0;
    put_change('S', inode_of(a[0]), 0, NULL, 0);
    return 0;
}

static long sync_map(const long *a) {
    for (struct map *each = maps; each < maps + map_count; each++)
        if (each->now) /* larm syncs a map as a whole, and one at a time */
            put_change('S', each->inode, 0, NULL, 0);
    return marked(SYS_msync, a[0], a[1], MS_ASYNC, 0, 0);
}

static long map_file(const long *a) {
    long result = call(SYS_mmap, a[0], a[1], a[2], a[3] | MAP_NORESERVE, a[4], a[5]);
    if (result >= 0 || result < -4095)
        watch_map(a[4], a[1], a[5]);
    return result;
}

static int writes(long number) {
    return number == SYS_write || number == SYS_pwrite64 || number == SYS_writev || number == SYS_pwritev || number == SYS_sendfile;
}

static long carry_out(long number, const long *a) {
    put_mapped_pages();
    switch (number) {
    case SYS_write: case SYS_pwrite64: case SYS_writev: case SYS_pwritev: return write_parts(number, a);
    case SYS_sendfile: return send_file(a);
    case SYS_open: case SYS_openat: return open_file(number, a);
    case SYS_rename: case SYS_renameat: case SYS_renameat2: return rename_path(number, a);
    case SYS_link: return change_name('L', number, a, AT_FDCWD, a[1]);
    case SYS_linkat: return change_name('L', number, a, a[2], a[3]);
    case SYS_symlink: return change_name('K', number, a, AT_FDCWD, a[1]);
    case SYS_symlinkat: return change_name('K', number, a, a[1], a[2]);
    case SYS_unlink: case SYS_rmdir: return change_name('U', number, a, AT_FDCWD, a[0]);
    case SYS_unlinkat: return change_name('U', number, a, a[0], a[1]);
    case SYS_mkdir: return change_name('D', number, a, AT_FDCWD, a[0]);
    case SYS_mkdirat: return change_name('D', number, a, a[0], a[1]);
    case SYS_truncate: case SYS_ftruncate: return change_size('T', number, a, a[1]);
    case SYS_fallocate: return change_size('A', number, a, a[2] + a[3]);
    case SYS_fsync: case SYS_fdatasync: return sync_file(a);
    case SYS_msync: return sync_map(a);
    case SYS_mmap: return map_file(a);
    default: abort();
    }
}

static void trapped(int signal, siginfo_t *info, void *context) {
    (void)signal;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    long a[6] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], registers[REG_R10], registers[REG_R8], registers[REG_R9]};
    int error = errno;
    char path[4096];
    if (writes(info->si_syscall) && !below(a[0], path)) { /* a pipe may block, so not under the lock */
        registers[REG_RAX] = marked(info->si_syscall, a[0], a[1], a[2], a[3], a[4]);
        errno = error;
        return;
    }
    while (atomic_flag_test_and_set(&locked))
        sched_yield();
    registers[REG_RAX] = carry_out(info->si_syscall, a);
    atomic_flag_clear(&locked);
    errno = error;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define TRAP BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define TRAP_CALL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), TRAP
/* Trap the call if this argument has one of these bits. */
#define TRAP_FLAGS(name, argument, bits) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(args[argument]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1), TRAP, ALLOW

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("RECORD_JOURNAL"), *below_it = getenv("RECORD_FOLDER");
    if (!path || !below_it)
        return;
    snprintf(folder, sizeof folder, "%s", below_it);
    int file = (int)marked(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600, 0);
    journal = fcntl(file, F_DUPFD_CLOEXEC, 200);
    close(file);
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    sigdelset(&action.sa_mask, SIGSYS);
    sigaction(SIGSYS, &action, NULL);
    struct sock_filter filter[] = {
        LOAD(nr),
        /* mmap and copy_file_range have six arguments. A writable shared mapping is let through with MAP_NORESERVE. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 7),
        LOAD(args[2]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_WRITE, 1, 0), ALLOW,
        LOAD(args[3]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_NORESERVE | MAP_PRIVATE, 1, 0), TRAP, ALLOW,
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_copy_file_range, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        LOAD(args[5]), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 0, 1), ALLOW, LOAD(nr),
        TRAP_CALL(write), TRAP_CALL(pwrite64), TRAP_CALL(writev), TRAP_CALL(pwritev), TRAP_CALL(sendfile),
        TRAP_CALL(rename), TRAP_CALL(renameat), TRAP_CALL(renameat2), TRAP_CALL(link), TRAP_CALL(linkat),
        TRAP_CALL(symlink), TRAP_CALL(symlinkat), TRAP_CALL(unlink), TRAP_CALL(unlinkat), TRAP_CALL(rmdir),
        TRAP_CALL(mkdir), TRAP_CALL(mkdirat), TRAP_CALL(truncate), TRAP_CALL(ftruncate), TRAP_CALL(fallocate),
        TRAP_CALL(fsync), TRAP_CALL(fdatasync), TRAP_CALL(msync),
        TRAP_FLAGS(open, 1, O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)),
        TRAP_FLAGS(openat, 2, O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)),
        ALLOW,
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (journal < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        abort();
}
