// A child of this process with a pipe to it.
#pragma once
#include <sys/types.h>

#include <functional>

namespace deberta::train {

struct ChildProcess {
  pid_t id = 0;
  int heard = -1;  // the end of the pipe to read from, to be closed
};

// `body` runs in the child with the pipe's other end, and does not return. The child is killed with this process. No
// other thread may run. Throws kInternal where no process can be started.
ChildProcess start_child(const std::function<void(int pipe)>& body);

// Its exit code, or 128 + the signal that ended it.
int await_child(pid_t child);

}  // namespace deberta::train
