// For LD_PRELOAD: counts the calls that open, write, sync, rename, make and remove files, and lets one of them be the
// last of the process (FAIL_MODE=kill), fail (ENOSPC, EIO, EINTR) or write less than asked (SHORT). FAIL_CALL is its
// number from 1; FAIL_MODE=count writes how many there were to FAIL_COUNT_FILE.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long calls;

static const char* mode(void) {
  const char* value = getenv("FAIL_MODE");
  return value ? value : "";
}

__attribute__((destructor)) static void report(void) {
  if (strcmp(mode(), "count") != 0) return;
  FILE* file = fopen(getenv("FAIL_COUNT_FILE"), "w");
  if (!file) return;
  fprintf(file, "%ld\n", calls);
  fclose(file);
}

static int is_chosen(void) {
  const char* chosen = getenv("FAIL_CALL");
  return ++calls == (chosen ? atol(chosen) : 0);
}

// Nonzero: the call is to fail with errno set. `can_be_interrupted`: EINTR means something for it.
static int fails(int can_be_interrupted) {
  if (!is_chosen()) return 0;
  if (strcmp(mode(), "kill") == 0) _exit(77);
  errno = strcmp(mode(), "ENOSPC") == 0 ? ENOSPC : strcmp(mode(), "EIO") == 0 ? EIO : EINTR;
  if (strcmp(mode(), "ENOSPC") == 0 || strcmp(mode(), "EIO") == 0) return 1;
  return strcmp(mode(), "EINTR") == 0 && can_be_interrupted;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return fails(0) ? -1 : REAL(open)(path, flags, rights);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return fails(0) ? -1 : REAL(open64)(path, flags, rights);
}

ssize_t write(int fd, const void* bytes, size_t count) {
  const long before = calls;
  if (fails(1)) return -1;
  const char* chosen = getenv("FAIL_CALL");
  const int is_short = strcmp(mode(), "SHORT") == 0 && chosen && before + 1 == atol(chosen);
  return REAL(write)(fd, bytes, is_short && count > 1 ? count / 2 : count);
}

int fsync(int fd) {
  return fails(1) ? -1 : REAL(fsync)(fd);
}

int close(int fd) {
  if (!fails(1)) return REAL(close)(fd);
  const int error = errno;
  REAL(close)(fd);  // a failed close closes all the same
  errno = error;
  return -1;
}

int rename(const char* from, const char* to) {
  return fails(0) ? -1 : REAL(rename)(from, to);
}

int mkdir(const char* path, mode_t rights) {
  return fails(0) ? -1 : REAL(mkdir)(path, rights);
}

int unlink(const char* path) {
  return fails(0) ? -1 : REAL(unlink)(path);
}

int unlinkat(int fd, const char* path, int flags) {
  return fails(0) ? -1 : REAL(unlinkat)(fd, path, flags);
}

int rmdir(const char* path) {
  return fails(0) ? -1 : REAL(rmdir)(path);
}

int ftruncate(int fd, off_t size) {
  return fails(0) ? -1 : REAL(ftruncate)(fd, size);
}
