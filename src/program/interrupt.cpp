// Signal handlers of the program (the library installs none).
#include "program/interrupt.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>

#include "base/mapping_table.h"

namespace deberta::program {
namespace {

// Written by the handler on any thread, read by all.
std::atomic<int> received = 0;
std::array<std::atomic<bool>, NSIG> has_watched{};  // by number
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
std::atomic_flag is_reporting;

extern "C" void on_signal(int number) {
  if (received != 0) ::_exit(128 + number);
  received = number;
}

extern "C" void on_watched_signal(int number) {
  has_watched[static_cast<size_t>(number)] = true;
}

void write_text(const char* text) {
  [[maybe_unused]] const ssize_t done = ::write(STDERR_FILENO, text, std::strlen(text));
}

// A read past the new end of a mapped file. Anything else that raises SIGBUS ends the process as it would have.
extern "C" void on_bus_error(int number, siginfo_t* info, void*) {
  const char* path = mapped_path_at(info->si_addr);
  if (path == nullptr) {
    std::signal(number, SIG_DFL);
    return;
  }
  while (is_reporting.test_and_set()) ::pause();  // another thread reports, and ends the process
  write_text("deberta: ");
  write_text(path);
  write_text(": the file was truncated while in use; download it again, or use --load read\n");
  ::_exit(1);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;  // no SA_RESTART: a blocked read returns, so that the loop can ask
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  struct sigaction hangup {};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)  // nohup stays in effect
    ::sigaction(SIGHUP, &action, nullptr);
  struct sigaction bus {};
  bus.sa_sigaction = on_bus_error;
  bus.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &bus, nullptr);
  for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);  // writing fails instead
}

void watch_signal(int number) {
  struct sigaction action {};
  action.sa_handler = on_watched_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(number, &action, nullptr);
}

bool take_watched_signal(int number) {
  return has_watched[static_cast<size_t>(number)].exchange(false);
}

int interrupted() {
  return received == 0 ? 0 : 128 + received;
}

void answer_interrupt() {
  received = 0;
}

void check_interrupted() {
  if (received != 0) throw Interrupted{};
}

}  // namespace deberta::program
