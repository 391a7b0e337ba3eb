// For LD_PRELOAD: a program whose libraries take longer to start than its work takes is started once, and runs main() in
// a copy of itself (fork) for each request. STARTED_ONCE names a socket. Where STARTED_ONCE_SERVES is set too, main() waits
// there for requests. Elsewhere execv() of deberta-train, or of itself by a copy, becomes a request: words, environment,
// folder and the first three files go to a copy; SIGINT and SIGTERM follow, and the process ends as the copy does. (A
// process that is killed takes its copy along, but a moment later.)
//
// What is done before main() has been done once, then, and nothing is done after it. That is the same as in a process of
// its own as long as the program does not depend on words and environment before main(), and does nothing after it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

enum { kFiles = 3, kWait = 5 /* ms */ };

typedef int Main(int, char**, char**);
static Main* real_main;

typedef struct {
  size_t size, words, settings;  // bytes of the text; how many words and settings follow the folder in it
} Head;

static void check(int is_good, const char* what) {
  if (is_good) return;
  perror(what);
  _exit(125);
}

static int connected(const char* name, int is_server) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  check(fd >= 0 && strlen(name) < sizeof address.sun_path, "started_once: socket");
  strcpy(address.sun_path, name);
  if (is_server) {
    check(bind(fd, (struct sockaddr*)&address, sizeof address) == 0 && listen(fd, 64) == 0, "started_once: bind");
  } else {
    check(connect(fd, (struct sockaddr*)&address, sizeof address) == 0, "started_once: connect");
  }
  return fd;
}

static void write_all(int fd, const void* data, size_t size) {
  for (const char* at = data; size > 0;) {
    const ssize_t done = write(fd, at, size);
    check(done > 0, "started_once: write");
    at += done;
    size -= (size_t)done;
  }
}

static int read_all(int fd, void* data, size_t size) {
  for (char* at = data; size > 0;) {
    const ssize_t done = read(fd, at, size);
    if (done <= 0) return 0;
    at += done;
    size -= (size_t)done;
  }
  return 1;
}

// ---- asking

static size_t append(char** text, size_t size, const char* word) {
  const size_t more = strlen(word) + 1;
  *text = realloc(*text, size + more);
  memcpy(*text + size, word, more);
  return size + more;
}

static void send_head(int fd, Head head) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(kFiles * sizeof(int))];
  } control = {0};
  struct iovec data = {&head, sizeof head};
  struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  struct cmsghdr* files = CMSG_FIRSTHDR(&message);
  files->cmsg_level = SOL_SOCKET;
  files->cmsg_type = SCM_RIGHTS;
  files->cmsg_len = CMSG_LEN(kFiles * sizeof(int));
  memcpy(CMSG_DATA(files), (int[]){0, 1, 2}, kFiles * sizeof(int));
  check(sendmsg(fd, &message, 0) == sizeof head, "started_once: sendmsg");
}

static void end_as(int status) {
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  _exit(128 + WTERMSIG(status));
}

static int copy_fd = -1;  // where the copy's end is told

static void relay(int number) {
  const int error = errno;
  const char byte = (char)number;
  if (write(copy_fd, &byte, 1) != 1) _exit(125);
  errno = error;
}

static int is_trainer(const char* path) {
  const char* file = strrchr(path, '/');
  return file && (strcmp(file, "/deberta-train") == 0 || strcmp(path, "/proc/self/exe") == 0);
}

int execv(const char* path, char* const words[]) {
  const char* name = getenv("STARTED_ONCE");
  if (!name || !is_trainer(path)) return REAL(execv)(path, words);
  unsetenv("LD_PRELOAD");
  char folder[PATH_MAX];
  check(getcwd(folder, sizeof folder) != NULL, "started_once: getcwd");
  Head head = {0};
  char* text = NULL;
  head.size = append(&text, 0, folder);
  for (; words[head.words]; head.words++) head.size = append(&text, head.size, words[head.words]);
  for (; environ[head.settings]; head.settings++) head.size = append(&text, head.size, environ[head.settings]);
  copy_fd = connected(name, 0);
  send_head(copy_fd, head);
  write_all(copy_fd, text, head.size);
  const struct sigaction relayed = {.sa_handler = relay, .sa_flags = SA_RESTART};
  sigaction(SIGINT, &relayed, NULL);
  sigaction(SIGTERM, &relayed, NULL);
  int status = 0;
  check(read_all(copy_fd, &status, sizeof status), "started_once: no copy");
  end_as(status);
  return -1;
}

// ---- answering

static int receive_head(int fd, Head* head, int files[kFiles]) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(kFiles * sizeof(int))];
  } control;
  struct iovec data = {head, sizeof *head};
  struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL) != sizeof *head) return 0;
  memcpy(files, CMSG_DATA(CMSG_FIRSTHDR(&message)), kFiles * sizeof(int));
  return 1;
}

static char** list_of(char** at, size_t count) {
  char** list = calloc(count + 1, sizeof *list);
  for (size_t n = 0; n < count; n++, *at += strlen(*at) + 1) list[n] = *at;
  return list;
}

// main() with what was asked for; in a copy. What LibTorch does after it, destroy all that it made, is left out.
static void run(Head head, char* text, const int files[kFiles]) {
  for (int n = 0; n < kFiles; n++) check(dup2(files[n], n) == n, "started_once: dup2");
  for (int n = 0; n < kFiles; n++) close(files[n]);
  check(chdir(text) == 0, "started_once: chdir");
  text += strlen(text) + 1;
  char** words = list_of(&text, head.words);
  environ = list_of(&text, head.settings);
  const int code = real_main((int)head.words, words, environ);
  fflush(NULL);
  _exit(code);
}

// A process between: it waits for the copy. True in the copy.
static int answers(int fd, Head* head, char** text, int files[kFiles]) {
  if (!receive_head(fd, head, files)) _exit(0);
  *text = malloc(head->size);
  check(read_all(fd, *text, head->size), "started_once: read");
  const pid_t copy = fork();
  check(copy >= 0, "started_once: fork");
  if (copy == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);  // what a copy does to its group does not come here
    close(fd);
    return 1;
  }
  int status = 0;
  struct pollfd asker = {fd, POLLIN, 0};
  while (waitpid(copy, &status, WNOHANG) == 0) {
    char number = 0;
    if (poll(&asker, 1, kWait) <= 0) continue;
    if (read(fd, &number, 1) != 1) _exit(0);  // the process is gone, and the copy goes with this one
    kill(copy, number);
  }
  write_all(fd, &status, sizeof status);
  _exit(0);
}

static int serve(int argc, char** argv, char** unused) {
  (void)argc, (void)argv, (void)unused;
  const pid_t parent = getppid();
  struct pollfd asked = {connected(getenv("STARTED_ONCE"), 1), POLLIN, 0};
  write_all(1, "ready\n", 6);
  while (getppid() == parent) {
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
    if (poll(&asked, 1, 20 * kWait) <= 0) continue;
    const int fd = accept4(asked.fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0 && fork() == 0) {
      close(asked.fd);
      Head head;
      char* text;
      int files[kFiles];
      if (answers(fd, &head, &text, files)) run(head, text, files);
    }
    close(fd);
  }
  return 0;
}

int __libc_start_main(Main* program, int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void* stack_end) {
  real_main = program;
  return REAL(__libc_start_main)(getenv("STARTED_ONCE_SERVES") ? serve : program, argc, argv, init, fini, rtld_fini,
                                 stack_end);
}
