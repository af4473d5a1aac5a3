#include "tests/memfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void memfile_open(struct memfile *f)
{
    f->fd = memfd_create("memfile", MFD_CLOEXEC);
    if (f->fd < 0) {
        perror("memfd_create");
        exit(3);
    }
    (void)snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
}

void memfile_set(struct memfile *f, const void *bytes, size_t length)
{
    if (ftruncate(f->fd, 0) != 0 || pwrite(f->fd, bytes, length, 0) != (ssize_t)length) {
        perror("memfile_set");
        exit(3);
    }
}

void memfile_close(struct memfile *f)
{
    (void)close(f->fd);
    f->fd = -1;
}
