// A figure of a model: its data in each form that programs write, and its drawing.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "chart/chart.h"
#include "deberta/checkpoint.h"

namespace deberta {

// Numbers of one kind: fp32, or whole ones where there are any.
struct FigureArray {
  std::string name;
  Shape shape;
  std::vector<float> values = {};
  std::vector<int32_t> integers = {};
};

// A cell of a line. Nothing: the model or the text has no such value.
using FigureValue = std::variant<std::monostate, int64_t, float, double, std::string>;
using FigureLine = std::vector<FigureValue>;

// Each form is made when it is called for, from the same data.
struct Figure {
  std::function<std::vector<FigureLine>()> lines;  // a value for each of the figure's columns
  std::function<JsonObject()> object;
  std::function<std::vector<FigureArray>()> arrays;
  std::function<chart::Picture()> picture;
};

// Of data for which there are functions lines_of, object_of, arrays_of and picture_of.
template <class Data>
Figure figure_of(Data made) {
  const auto data = std::make_shared<const Data>(std::move(made));
  return {.lines = [data] { return lines_of(*data); },
          .object = [data] { return object_of(*data); },
          .arrays = [data] { return arrays_of(*data); },
          .picture = [data] { return picture_of(*data); }};
}

// The columns of the lines of a kind of figure, which are the same for every model and text.
using FigureColumns = std::vector<std::string_view>;

}  // namespace deberta
