// One switch for the whole program.
#include "program/note.h"

#include <cstdio>

namespace deberta::program {
namespace {

bool quiet_is_set = false;

}  // namespace

void set_quiet(bool quiet) {
  quiet_is_set = quiet;
}

bool is_quiet() {
  return quiet_is_set;
}

void note(const std::string& text) {
  if (!quiet_is_set) std::fputs((text + '\n').c_str(), stderr);
}

}  // namespace deberta::program
