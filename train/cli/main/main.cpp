// The program of the training half.
#include <malloc.h>

#include "program/program.h"
#include "train/cli/verbs.h"

namespace {

// Freed memory stays with the process: each step asks for the same large tensors again, and pages that come anew from
// the system cost a tenth of its time.
void keep_freed_memory() {
  ::mallopt(M_MMAP_MAX, 0);  // no block is a mapping of its own, which its end would give back
  ::mallopt(M_TRIM_THRESHOLD, -1);
  ::mallopt(M_TOP_PAD, 1 << 26);
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  return deberta::program::run_program(argc, argv, deberta::train::run_verb);
}
