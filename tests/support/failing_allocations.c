// For LD_PRELOAD: counts what the program asks of the heap from the first line of main to its last (operator new comes
// here too), and lets one request fail. FAIL_CALL is its number from 1, by all threads. With FAIL_EVERY=n every n-th
// request of the main thread fails, each in a copy of the process (fork) that goes on from there, while the process
// itself goes on as if nothing had been: FAIL_EVERY=1 tries all of them in the time of one run.
//
// FAIL_REPORT names a file: a line `number code live message` for each copy, where code is the exit code, or 128 and the
// signal's number; live is how many blocks are not given back when main returns (-1 when it does not); and message is
// the last line of what the copy said. Then a line `0 code live` of the process itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);

enum { kSeconds = 5 };  // for one copy: more is a hang, or a wait for a thread that only the process has

static atomic_long calls, live;
static atomic_int armed;
static long chosen, every, phase;
static int report = -1, is_copy;
static pid_t process;
static long* live_of_copy;  // shared with the copies

static long number_of(const char* name) {
  const char* value = getenv(name);
  return value ? atol(value) : 0;
}

static void tell(const char* format, long number, int code, long blocks, const char* message) {
  char line[600];
  const int size = snprintf(line, sizeof line, format, number, code, blocks, message);
  if (write(report, line, size < (int)sizeof line ? (size_t)size : sizeof line - 1) < 0) _exit(99);
}

// In the copy: what it says goes into a file without a name, which the process reads.
static void become_copy(int said) {
  is_copy = 1;
  armed = 0;
  const int nothing = open("/dev/null", O_WRONLY);
  dup2(nothing, 1);
  dup2(said, 2);
  alarm(kSeconds);
}

static void read_last_line(int file, char* line, size_t room) {
  const off_t end = lseek(file, 0, SEEK_END), begin = end < (off_t)room ? 0 : end - (off_t)room + 1;
  const ssize_t got = pread(file, line, room - 1, begin);
  line[got < 0 ? 0 : got] = '\0';
  size_t size = strlen(line);
  while (size > 0 && line[size - 1] == '\n') line[--size] = '\0';
  const char* last = strrchr(line, '\n');
  if (last) memmove(line, last + 1, strlen(last));
}

// Whether this request is to fail: true in the copy alone.
static int fails_in_a_copy(long number) {
  const int said = memfd_create("said", 0);
  *live_of_copy = -1;
  const pid_t copy = fork();
  if (copy == 0) {
    become_copy(said);
    return 1;
  }
  int status = 0;
  while (waitpid(copy, &status, 0) < 0 && errno == EINTR) continue;
  char message[400];
  read_last_line(said, message, sizeof message);
  close(said);
  tell("%ld %d %ld %s\n", number, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), *live_of_copy, message);
  return 0;
}

static int fails(void) {
  if (!armed) return 0;
  const long number = ++calls;
  int is_failing = number == chosen;
  if (every > 0 && gettid() == process && number % every == phase) {
    const int error = errno;
    armed = 0;
    is_failing = fails_in_a_copy(number);
    armed = !is_copy;
    errno = error;
  }
  if (is_failing) errno = ENOMEM;
  return is_failing;
}

static void* counted(void* block) {
  if (block) ++live;
  return block;
}

void* malloc(size_t size) {
  return fails() ? NULL : counted(__libc_malloc(size));
}
void* calloc(size_t count, size_t size) {
  return fails() ? NULL : counted(__libc_calloc(count, size));
}
void* memalign(size_t alignment, size_t size) {
  return fails() ? NULL : counted(__libc_memalign(alignment, size));
}
void* aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
void* realloc(void* block, size_t size) {
  if (fails()) return NULL;
  void* moved = __libc_realloc(block, size);
  if (!block && moved) ++live;
  if (block && !moved && size == 0) --live;
  return moved;
}
void free(void* block) {
  if (block) --live;
  __libc_free(block);
}

static int (*real_main)(int, char**, char**);

static int counted_main(int argc, char** argv, char** environment) {
  chosen = number_of("FAIL_CALL");
  every = number_of("FAIL_EVERY");
  phase = every > 0 ? number_of("FAIL_PHASE") % every : 0;
  process = getpid();
  const char* path = getenv("FAIL_REPORT");
  if (path) report = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  live_of_copy = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  live = 0;
  armed = 1;
  const int code = real_main(argc, argv, environment);
  armed = 0;
  if (is_copy) *live_of_copy = live;
  if (!is_copy && report >= 0) tell("0 %2$d %3$ld %1$ld%4$s\n", calls, code, live, "");
  return code;
}

typedef int (*Start)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*);

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*loader)(void), void* stack) {
  real_main = main;
  return ((Start)dlsym(RTLD_NEXT, "__libc_start_main"))(counted_main, argc, argv, init, fini, loader, stack);
}
