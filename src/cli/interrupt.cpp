// Signal handlers of the program (the library installs none).
#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace deberta::cli {
namespace {

volatile std::sig_atomic_t received = 0;

extern "C" void on_signal(int number) {
  if (received != 0) ::_exit(128 + number);
  received = number;
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;  // no SA_RESTART: a blocked read returns, so that the loop can ask
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int interrupted() {
  return received == 0 ? 0 : 128 + received;
}

}  // namespace deberta::cli
