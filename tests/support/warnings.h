// Collects the process's warnings during its lifetime, one line each.
#pragma once
#include <string>
#include <string_view>

#include "deberta/library.h"

namespace deberta::test {

class Warnings {
 public:
  Warnings() {
    set_warning_sink(
        [](void* to, std::string_view message) { *static_cast<std::string*>(to) += std::string(message) + "\n"; },
        &text);
  }
  ~Warnings() { set_warning_sink(nullptr); }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;

  std::string text;
};

}  // namespace deberta::test
