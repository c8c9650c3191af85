/* SPDX-License-Identifier: Apache-2.0
 *
 * A machine on which strange things happen, for programs that load this library first (LD_PRELOAD).
 * The file named by STRANGE_MACHINE says what happens now; see tests/support/strange_machine.py.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* What the file holds. */
struct strange {
    double wall_s;  /* somebody has set the wall clock by so much */
    double slept_s; /* the machine has slept for so long */
    double refusal; /* errno of each write to a file below STRANGE_FOLDER; 0: none */
    double stalled; /* not 0: such files are not synced until it is 0 again */
};

static volatile const struct strange *now;
static const char *folder;

__attribute__((constructor)) static void look(void)
{
    const char *path = getenv("STRANGE_MACHINE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *found = MAP_FAILED;

    folder = getenv("STRANGE_FOLDER");
    if (file >= 0) {
        found = mmap(NULL, sizeof *now, PROT_READ, MAP_SHARED, file, 0);
        close(file);
    }
    if (found != MAP_FAILED)
        now = found;
}

/* Add seconds to a time. */
static void later(struct timespec *at, double seconds)
{
    double whole = floor(seconds);
    long nanoseconds = at->tv_nsec + (long)((seconds - whole) * 1e9);

    at->tv_sec += (time_t)whole + nanoseconds / 1000000000;
    at->tv_nsec = nanoseconds % 1000000000;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    static int (*real)(clockid_t, struct timespec *);

    if (!real)
        real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, at);
    if (failed || !now)
        return failed;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        later(at, now->wall_s + now->slept_s);
    else if (clock == CLOCK_BOOTTIME)
        later(at, now->slept_s);
    return 0;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    struct timespec found;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &found);
    at->tv_sec = found.tv_sec;
    at->tv_usec = found.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at)
{
    struct timespec found;

    clock_gettime(CLOCK_REALTIME, &found);
    if (at)
        *at = found.tv_sec;
    return found.tv_sec;
}

/* Tell whether a descriptor is a file below the folder. */
static int is_ours(int descriptor)
{
    char name[64], path[4096];
    ssize_t length;

    if (!folder)
        return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    length = readlink(name, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = '\0';
    return !strncmp(path, folder, strlen(folder)) && path[strlen(folder)] == '/';
}

static int refused(int descriptor)
{
    if (!now || now->refusal == 0 || !is_ours(descriptor))
        return 0;
    errno = (int)now->refusal;
    return errno;
}

static void wait_while_stalled(int descriptor)
{
    const struct timespec moment = {0, 5000000};

    while (now && now->stalled != 0 && is_ours(descriptor))
        nanosleep(&moment, NULL);
}

/* A call that fails on a disk that takes nothing. */
#define REFUSED(result, name, parameters, arguments)                                               \
    result name parameters                                                                         \
    {                                                                                              \
        static result(*real) parameters;                                                           \
        if (!real)                                                                                 \
            real = dlsym(RTLD_NEXT, #name);                                                        \
        return refused(descriptor) ? -1 : real arguments;                                          \
    }

/* A call that waits for the disk. */
#define SYNCED(name)                                                                               \
    int name(int descriptor)                                                                       \
    {                                                                                              \
        static int (*real)(int);                                                                   \
        if (!real)                                                                                 \
            real = dlsym(RTLD_NEXT, #name);                                                        \
        wait_while_stalled(descriptor);                                                            \
        return refused(descriptor) ? -1 : real(descriptor);                                        \
    }

REFUSED(ssize_t, write, (int descriptor, const void *from, size_t size), (descriptor, from, size))
REFUSED(ssize_t, pwrite, (int descriptor, const void *from, size_t size, off_t at),
        (descriptor, from, size, at))
REFUSED(ssize_t, pwrite64, (int descriptor, const void *from, size_t size, off64_t at),
        (descriptor, from, size, at))
REFUSED(int, ftruncate, (int descriptor, off_t size), (descriptor, size))
REFUSED(int, ftruncate64, (int descriptor, off64_t size), (descriptor, size))
REFUSED(int, posix_fallocate, (int descriptor, off_t at, off_t size), (descriptor, at, size))
SYNCED(fsync)
SYNCED(fdatasync)
