// The program of the training half.
#include <malloc.h>

#include <cstdlib>

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

// LibTorch's switch: its tensors of 2 MB and more lie on pages of 2 MB, so that a step's time depends less on where
// they come to lie.
void use_large_pages() {
  ::setenv("THP_MEM_ALLOC_ENABLE", "1", 0);  // unless it is set already
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  use_large_pages();
  return deberta::program::run_program(argc, argv, deberta::train::run_verb);
}
