// Texts of a Python caller as views of UTF-8. Strings are copied once, into one buffer; texts of Arrow are not copied.
// Everything here holds the GIL, the end of Texts too.
#pragma once
#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/src/arrow_data.h"

namespace deberta::python {

class Texts {
 public:
  // A list or tuple of str, an object with __arrow_c_stream__ or __arrow_c_array__ (a column of strings, or a table
  // that has no other), or one with tolist(), as arrays have it. `argument` names it in errors, and `expected` says
  // what it may be. Throws kInput for anything else.
  Texts(nanobind::handle object, std::string argument, const char* expected = "a text or a list of texts");

  size_t size() const { return views_.size(); }
  std::string_view operator[](size_t i) const { return views_[i]; }
  // Why a text cannot be read: None, a number, a lone surrogate, bytes that are no UTF-8. Empty: it can. The view is
  // then empty.
  std::string_view fault(size_t i) const;

 private:
  void read_list(nanobind::handle list);
  void read_stream(ArrowArrayStream& stream);
  void read_array(const ArrowSchema& schema, ArrowArray* array);
  void add(std::string_view view) { views_.push_back(view); }
  void add_fault(std::string fault);

  std::string argument_;
  std::vector<std::string_view> views_;
  std::vector<std::pair<size_t, std::string>> faults_;  // by index, ascending
  std::string buffer_;                                  // of strings
  std::vector<ArrowOwner<ArrowArray>> arrays_;          // whose buffers the views are of
};

}  // namespace deberta::python
