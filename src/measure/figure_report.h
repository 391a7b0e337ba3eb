// Figures of `bench`, as the rows of one table or as JSON lines; and its options that are lists of numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/json.h"
#include "options/verb_options.h"
#include "program/answers.h"

namespace deberta::measure {

// To whole parts of one.
double rounded(double value, double parts);

// Throws kUsage for a word that is no number in 1 .. `most`.
std::vector<int32_t> numbers(const std::string& option, const std::vector<std::string>& words, int32_t most);

// --threads; 0: as many as the processors that this process may use.
std::vector<size_t> thread_counts(const std::vector<std::string>& words);

// `columns`: names of figures. A line is printed at once, with all of its figures; a table at the end.
class FigureReport {
 public:
  FigureReport(const OutputSettings& output, std::vector<std::string> columns);
  void add(JsonObject figure);

  // One table after the other; as json one array of all figures. Those without figures are left out.
  static void print(std::initializer_list<const FigureReport*> reports);

 private:
  const OutputSettings& output_;
  std::vector<std::string> columns_;
  std::vector<program::Answer> answers_;
};

}  // namespace deberta::measure
