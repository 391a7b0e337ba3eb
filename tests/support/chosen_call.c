// For LD_PRELOAD: counts the calls that open, write, sync, close, rename, make, remove and cut files, and lets
// something happen to one of them. What counts: CALL_KIND (open, write, fsync, close, rename, mkdir, unlink, rmdir,
// ftruncate; without it all of these) with CALL_PATH as a part of the path, and with CALL_AFTER only once a path with
// that part was opened. CALL_NUMBER: which of them, from 1. CALL_DOES: a number is a signal that the process gets
// before the call is made, with its whole group if CALL_WHOM is group; ENOSPC and EIO let it fail, EINTR too where that
// means something, SHORT lets it write half of what was asked. CALL_REPORT names a file that gets a line `kind path`
// for each call that counts.
//
// The kinds backward and grad are no calls to the system: the trainer makes them to LibTorch, the one for each
// micro-batch, the other within it for each layer that is computed again.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_long calls;
static atomic_int is_armed;

static const char* setting(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

static int is_set(const char* name, const char* value) {
  return strcmp(setting(name), value) == 0;
}

static void report(const char* kind, const char* path) {
  if (!*setting("CALL_REPORT")) return;
  const int fd = REAL(open)(setting("CALL_REPORT"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0 || dprintf(fd, "%s %s\n", kind, path) < 0) abort();
  REAL(close)(fd);
}

static int counts(const char* kind, const char* path) {
  const char* after = setting("CALL_AFTER");
  if (strcmp(kind, "open") == 0 && *after && strstr(path, after)) is_armed = 1;
  const int is_of_system = strcmp(kind, "backward") != 0 && strcmp(kind, "grad") != 0;
  const int is_kind = *setting("CALL_KIND") ? is_set("CALL_KIND", kind) : is_of_system;
  return is_kind && (!*after || is_armed) && strstr(path, setting("CALL_PATH"));
}

static int is_chosen(const char* kind, const char* path) {
  const int error = errno;
  const int is_counted = counts(kind, path);
  if (is_counted) report(kind, path);
  errno = error;
  return is_counted && ++calls == atol(setting("CALL_NUMBER"));
}

static void strike(void) {
  if (atoi(setting("CALL_DOES")) > 0) kill(is_set("CALL_WHOM", "group") ? 0 : getpid(), atoi(setting("CALL_DOES")));
}

// Nonzero: the call is to fail with errno set.
static int fails(const char* kind, const char* path) {
  if (!is_chosen(kind, path)) return 0;
  strike();
  const int can_be_interrupted = strcmp(kind, "write") == 0 || strcmp(kind, "fsync") == 0 || strcmp(kind, "close") == 0;
  if (is_set("CALL_DOES", "ENOSPC"))
    errno = ENOSPC;
  else if (is_set("CALL_DOES", "EIO"))
    errno = EIO;
  else if (is_set("CALL_DOES", "EINTR") && can_be_interrupted)
    errno = EINTR;
  else
    return 0;
  return 1;
}

static const char* path_of(int fd, char* path, size_t room) {
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(name, path, room - 1);
  path[length < 0 ? 0 : length] = 0;
  return path;
}

static int descriptor_fails(const char* kind, int fd) {
  const int error = errno;
  char path[4096];
  path_of(fd, path, sizeof path);
  errno = error;
  return fails(kind, path);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return fails("open", path) ? -1 : REAL(open)(path, flags, rights);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return fails("open", path) ? -1 : REAL(open64)(path, flags, rights);
}

ssize_t write(int fd, const void* bytes, size_t count) {
  const long before = calls;
  if (descriptor_fails("write", fd)) return -1;
  const int is_short = is_set("CALL_DOES", "SHORT") && calls > before && calls == atol(setting("CALL_NUMBER"));
  return REAL(write)(fd, bytes, is_short && count > 1 ? count / 2 : count);
}

int fsync(int fd) {
  return descriptor_fails("fsync", fd) ? -1 : REAL(fsync)(fd);
}

int close(int fd) {
  if (!descriptor_fails("close", fd)) return REAL(close)(fd);
  const int error = errno;
  REAL(close)(fd);  // a failed close closes all the same
  errno = error;
  return -1;
}

int rename(const char* from, const char* to) {
  char path[4096];
  snprintf(path, sizeof path, "%s %s", from, to);
  return fails("rename", path) ? -1 : REAL(rename)(from, to);
}

int mkdir(const char* path, mode_t rights) {
  return fails("mkdir", path) ? -1 : REAL(mkdir)(path, rights);
}

int unlink(const char* path) {
  return fails("unlink", path) ? -1 : REAL(unlink)(path);
}

int unlinkat(int fd, const char* path, int flags) {
  return fails("unlink", path) ? -1 : REAL(unlinkat)(fd, path, flags);
}

int rmdir(const char* path) {
  return fails("rmdir", path) ? -1 : REAL(rmdir)(path);
}

int ftruncate(int fd, off_t size) {
  return descriptor_fails("ftruncate", fd) ? -1 : REAL(ftruncate)(fd, size);
}

// at::Tensor::_backward(ArrayRef<Tensor>, const optional<Tensor>&, optional<bool>, bool) const, whose arguments are six
// words.
void _ZNK2at6Tensor9_backwardEN3c108ArrayRefIS0_EERKSt8optionalIS0_ES4_IbEb(const void* self, const void* inputs,
                                                                            size_t size, const void* gradient,
                                                                            size_t keeps, size_t creates) {
  if (is_chosen("backward", "")) strike();
  REAL(_ZNK2at6Tensor9_backwardEN3c108ArrayRefIS0_EERKSt8optionalIS0_ES4_IbEb)
  (self, inputs, size, gradient, keeps, creates);
}

// torch::autograd::grad(const vector<Tensor>&, the same, the same, optional<bool>, bool, bool), which gives a vector.
struct three_words {
  void* words[3];
};
struct three_words
_ZN5torch8autograd4gradERKSt6vectorIN2at6TensorESaIS3_EES7_S7_St8optionalIbEbb(const void* outputs, const void* inputs,
                                                                               const void* gradients, size_t keeps,
                                                                               size_t creates, size_t allows) {
  if (is_chosen("grad", "")) strike();
  return REAL(_ZN5torch8autograd4gradERKSt6vectorIN2at6TensorESaIS3_EES7_S7_St8optionalIbEbb)(
      outputs, inputs, gradients, keeps, creates, allows);
}
