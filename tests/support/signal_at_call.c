// For LD_PRELOAD: sends a signal to the process at a chosen call, so that a test hits a phase of a run for certain. SIGNAL_CALL
// is open, write or rename; SIGNAL_PATH is a part of the path; SIGNAL_COUNT is which of these calls, from 1. With SIGNAL_AFTER, calls
// count once a path with that part was opened. SIGNAL_DELAY_MS sends it so much later, between calls. The call itself is not made first.
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
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static atomic_int calls;
static atomic_int is_armed;

static const char* setting(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

static void send(int number) {
  const long delay = atol(setting("SIGNAL_DELAY_MS"));
  if (delay == 0) {
    kill(getpid(), number);
    return;
  }
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
  const struct itimerspec when = {.it_value = {.tv_sec = delay / 1000, .tv_nsec = delay % 1000 * 1000000}};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &when, NULL) != 0) abort();
}

static void see(const char* call, const char* path) {
  const int error = errno;
  const char* after = setting("SIGNAL_AFTER");
  if (strcmp(call, "open") == 0 && *after && strstr(path, after)) is_armed = 1;
  if (*setting("SIGNAL_NUMBER") && (!*after || is_armed) && strcmp(call, setting("SIGNAL_CALL")) == 0 &&
      strstr(path, setting("SIGNAL_PATH")) && ++calls == atoi(setting("SIGNAL_COUNT"))) {
    send(atoi(setting("SIGNAL_NUMBER")));
  }
  errno = error;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  see("open", path);
  return REAL(open)(path, flags, rights);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  see("open", path);
  return REAL(open64)(path, flags, rights);
}

ssize_t write(int fd, const void* bytes, size_t count) {
  char name[64], path[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(name, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  see("write", path);
  return REAL(write)(fd, bytes, count);
}

int rename(const char* from, const char* to) {
  see("rename", from);
  return REAL(rename)(from, to);
}
