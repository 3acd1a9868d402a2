/* Writes down what a process does to the files of one folder, and what of it it has synced.
 *
 * Loaded before the C library (LD_PRELOAD), it does nothing until `power_begin(folder, journal)` is called. From then
 * on each change of a file or name in the folder is carried out and appended to the file `journal`, in the order in
 * which they happened; a sync is noted, and nothing is synced. `power_mark(text)` notes that something was confirmed.
 * `bench/power_player.py` reads the journal, and says what the folder may be after a loss of power.
 *
 * A record has six 64-bit numbers (what, inode, place, lengths of two paths and of the data), then the paths, relative
 * to the folder, and the data. Writes that come past these functions (through a memory map, or from within the C
 * library's own streams) are found at the file's next sync or close, where its whole content is noted.
 *
 * One process with its threads; files whose name ends in -shm are left out: SQLite makes them anew at a start.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define LONGEST (2 * PATH_MAX)
#define REAL(name) ((__typeof__(&name))real(#name))

static char folder[PATH_MAX];
static int journal = -1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void *real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

static void append(const void *bytes, size_t n)
{
    while (n) {
        ssize_t done = REAL(write)(journal, bytes, n);
        if (done < 0)
            abort(); /* a journal with a gap would say that all is well */
        bytes = (const char *)bytes + done;
        n -= done;
    }
}

static void note(char what, uint64_t inode, uint64_t at, const char *path, const char *other, const void *data, size_t n)
{
    int before = errno;
    uint64_t head[6] = {what, inode, at, strlen(path), strlen(other), n};
    append(head, sizeof head);
    append(path, head[3]);
    append(other, head[4]);
    append(data, n);
    errno = before;
}

void power_begin(const char *watched, const char *path)
{
    snprintf(folder, sizeof folder, "%s", watched);
    journal = REAL(open)(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (journal < 0)
        abort();
}

void power_mark(const char *text)
{
    pthread_mutex_lock(&turn);
    note('m', 0, 0, text, "", "", 0);
    pthread_mutex_unlock(&turn);
}

/* The part of a path below the folder; NULL where it lies elsewhere, or nobody asks for it. */
static const char *below(const char *path)
{
    size_t n = strlen(folder), whole = strlen(path);
    if (journal < 0 || strncmp(path, folder, n) || (path[n] && path[n] != '/'))
        return NULL;
    if (whole > 4 && !strcmp(path + whole - 4, "-shm"))
        return NULL;
    return path[n] ? path + n + 1 : path + n;
}

static const char *target_of(int handle, char *room)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t n = readlink(link, room, LONGEST - 1);
    if (n < 0)
        return NULL;
    room[n] = 0;
    return room;
}

static const char *path_at(int parent, const char *path, char *room)
{
    char base[LONGEST];
    if (journal < 0)
        return NULL;
    if (path[0] == '/')
        snprintf(room, LONGEST, "%s", path);
    else if (parent == AT_FDCWD ? getcwd(base, sizeof base) != NULL : target_of(parent, base) != NULL)
        snprintf(room, LONGEST, "%.*s/%s", PATH_MAX, base, path);
    else
        return NULL;
    return below(room);
}

/* Whether an open file or folder is in the folder, and what it is. */
static const char *path_of(int handle, struct stat *found, char *room)
{
    int before = errno;
    const char *path = journal < 0 || handle == journal ? NULL : target_of(handle, room);
    path = path ? below(path) : NULL;
    if (path && (fstat(handle, found) || !(S_ISREG(found->st_mode) || S_ISDIR(found->st_mode))))
        path = NULL;
    errno = before;
    return path;
}

/* All of a file as it is now, by whichever way it was written; SQLite's own files are written by what is watched. */
static void note_content(int handle, const char *path, const struct stat *found)
{
    const char *last = strrchr(path, '/');
    char link[64], *data;
    if (!S_ISREG(found->st_mode) || !strncmp(last ? last + 1 : path, "runoff.sqlite", 13))
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    int reader = REAL(open)(link, O_RDONLY | O_CLOEXEC);
    if (reader < 0 || !(data = malloc(found->st_size + 1)))
        abort();
    size_t n = 0;
    for (ssize_t got; (got = pread(reader, data + n, found->st_size - n, n)) > 0;)
        n += got;
    note('x', found->st_ino, 0, "", "", data, n);
    free(data);
    REAL(close)(reader);
}

/* Opened, perhaps made, perhaps emptied */

static int open_at(int parent, const char *path, int flags, mode_t mode)
{
    char room[LONGEST];
    const char *inside = flags & (O_CREAT | O_TRUNC) ? path_at(parent, path, room) : NULL;
    struct stat before, after;
    if (!inside)
        return REAL(openat)(parent, path, flags, mode);
    pthread_mutex_lock(&turn);
    int was_there = !fstatat(parent, path, &before, 0);
    int handle = REAL(openat)(parent, path, flags, mode);
    if (handle >= 0 && !fstat(handle, &after)) {
        if (!was_there)
            note('c', after.st_ino, 0, inside, "", "", 0);
        else if (flags & O_TRUNC && before.st_size)
            note('t', after.st_ino, 0, "", "", "", 0);
    }
    pthread_mutex_unlock(&turn);
    return handle;
}

#define OPEN(name, parameters, parent, flags, last)                                                                    \
    int name parameters                                                                                                \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, last);                                                                                          \
        mode_t mode = (flags) & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                      \
        va_end(rest);                                                                                                  \
        return open_at(parent, path, flags, mode);                                                                     \
    }
OPEN(open, (const char *path, int flags, ...), AT_FDCWD, flags, flags)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, flags | O_LARGEFILE, flags)
OPEN(openat, (int parent, const char *path, int flags, ...), parent, flags, flags)
OPEN(openat64, (int parent, const char *path, int flags, ...), parent, flags | O_LARGEFILE, flags)
int __open_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags | O_LARGEFILE, 0); }
int creat(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

int close(int handle)
{
    char room[LONGEST];
    struct stat found;
    const char *inside = path_of(handle, &found, room);
    if (inside && (fcntl(handle, F_GETFL) & O_ACCMODE) != O_RDONLY) {
        pthread_mutex_lock(&turn);
        note_content(handle, inside, &found);
        pthread_mutex_unlock(&turn);
    }
    return REAL(close)(handle);
}

/* Written. `at` is -1 where the file's own position counts. */

static ssize_t write_at(int handle, const void *data, size_t n, off_t at)
{
    char room[LONGEST];
    struct stat found;
    const char *inside = path_of(handle, &found, room);
    if (!inside)
        return at < 0 ? REAL(write)(handle, data, n) : REAL(pwrite)(handle, data, n, at);
    pthread_mutex_lock(&turn);
    ssize_t done = at < 0 ? REAL(write)(handle, data, n) : REAL(pwrite)(handle, data, n, at);
    if (done > 0)
        note('w', found.st_ino, at < 0 ? lseek(handle, 0, SEEK_CUR) - done : at, "", "", data, done);
    pthread_mutex_unlock(&turn);
    return done;
}

ssize_t write(int handle, const void *data, size_t n) { return write_at(handle, data, n, -1); }
ssize_t pwrite(int handle, const void *data, size_t n, off_t at) { return write_at(handle, data, n, at); }
ssize_t pwrite64(int handle, const void *data, size_t n, off64_t at) { return write_at(handle, data, n, at); }

static ssize_t gather(int handle, const struct iovec *parts, int n_parts, off_t at)
{
    char room[LONGEST];
    struct stat found;
    if (!path_of(handle, &found, room))
        return at < 0 ? REAL(writev)(handle, parts, n_parts) : REAL(pwritev)(handle, parts, n_parts, at);
    size_t n = 0;
    for (int i = 0; i < n_parts; i++)
        n += parts[i].iov_len;
    char *whole = malloc(n + 1), *end = whole;
    if (!whole)
        abort();
    for (int i = 0; i < n_parts; i++)
        end = mempcpy(end, parts[i].iov_base, parts[i].iov_len);
    ssize_t done = write_at(handle, whole, n, at);
    free(whole);
    return done;
}

ssize_t writev(int handle, const struct iovec *parts, int n) { return gather(handle, parts, n, -1); }
ssize_t pwritev(int handle, const struct iovec *parts, int n, off_t at) { return gather(handle, parts, n, at); }
ssize_t pwritev64(int handle, const struct iovec *parts, int n, off64_t at) { return gather(handle, parts, n, at); }

static int cut_to(int handle, off_t size)
{
    char room[LONGEST];
    struct stat found;
    if (!path_of(handle, &found, room))
        return REAL(ftruncate)(handle, size);
    pthread_mutex_lock(&turn);
    int failed = REAL(ftruncate)(handle, size);
    if (!failed)
        note('t', found.st_ino, size, "", "", "", 0);
    pthread_mutex_unlock(&turn);
    return failed;
}

int ftruncate(int handle, off_t size) { return cut_to(handle, size); }
int ftruncate64(int handle, off64_t size) { return cut_to(handle, size); }

int truncate(const char *path, off_t size)
{
    int handle = REAL(open)(path, O_WRONLY | O_CLOEXEC);
    if (handle < 0)
        return -1;
    int failed = cut_to(handle, size);
    close(handle);
    return failed;
}
int truncate64(const char *path, off64_t size) { return truncate(path, size); }

/* Synced: noted in place of being done, which is quicker and the same for whoever looks on. */

static int sync_noted(int handle, int (*sync)(int))
{
    char room[LONGEST];
    struct stat found;
    const char *inside = path_of(handle, &found, room);
    if (!inside)
        return sync(handle);
    pthread_mutex_lock(&turn);
    note_content(handle, inside, &found);
    note('s', found.st_ino, 0, inside, "", "", 0);
    pthread_mutex_unlock(&turn);
    return 0;
}

int fsync(int handle) { return sync_noted(handle, REAL(fsync)); }
int fdatasync(int handle) { return sync_noted(handle, REAL(fdatasync)); }

/* Named */

static int name_made(int parent, const char *path, int failed, char what, const char *inside)
{
    struct stat made;
    if (!failed && !fstatat(parent, path, &made, AT_SYMLINK_NOFOLLOW))
        note(what, made.st_ino, 0, inside, "", "", 0);
    return failed;
}

#define NAMED(done, what)                                                                                              \
    char room[LONGEST];                                                                                                \
    const char *inside = path_at(parent, path, room);                                                                  \
    if (!inside)                                                                                                       \
        return done;                                                                                                   \
    pthread_mutex_lock(&turn);                                                                                         \
    int failed = name_made(parent, path, done, what, inside);                                                          \
    pthread_mutex_unlock(&turn);                                                                                       \
    return failed;

int mkdirat(int parent, const char *path, mode_t mode) { NAMED(REAL(mkdirat)(parent, path, mode), 'd') }
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
int symlinkat(const char *to, int parent, const char *path) { NAMED(REAL(symlinkat)(to, parent, path), '?') }
int symlink(const char *to, const char *path) { return symlinkat(to, AT_FDCWD, path); }
int linkat(int from, const char *old, int parent, const char *path, int flags)
{
    NAMED(REAL(linkat)(from, old, parent, path, flags), 'l')
}
int link(const char *old, const char *path) { return linkat(AT_FDCWD, old, AT_FDCWD, path, 0); }

int unlinkat(int parent, const char *path, int flags)
{
    char room[LONGEST];
    const char *inside = path_at(parent, path, room);
    if (!inside)
        return REAL(unlinkat)(parent, path, flags);
    pthread_mutex_lock(&turn);
    int failed = REAL(unlinkat)(parent, path, flags);
    if (!failed)
        note('u', 0, 0, inside, "", "", 0);
    pthread_mutex_unlock(&turn);
    return failed;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int renameat2(int from, const char *old, int to, const char *new, unsigned int flags)
{
    char room[LONGEST], other[LONGEST];
    const char *source = path_at(from, old, room), *target = path_at(to, new, other);
    if (!source && !target)
        return REAL(renameat2)(from, old, to, new, flags);
    pthread_mutex_lock(&turn);
    int failed = REAL(renameat2)(from, old, to, new, flags);
    if (!failed) /* into the folder or out of it, or an exchange: nobody does that, and the player refuses it */
        note(source && target && !flags ? 'r' : '?', 0, 0, source ? source : old, target ? target : new, "", 0);
    pthread_mutex_unlock(&turn);
    return failed;
}
int renameat(int from, const char *old, int to, const char *new) { return renameat2(from, old, to, new, 0); }
int rename(const char *old, const char *new) { return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0); }
