// From members of objects to the structs of chart.h. null is a number that there is none of.
#include "chart/chart_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "deberta/error.h"

namespace deberta::chart {
namespace {

// An object, and which of its members were asked for.
class Fields {
 public:
  Fields(const Json& object, std::string where, std::string at)
      : object_(object), where_(std::move(where)), at_(std::move(at)) {
    if (!object.is_object())
      throw Error(ErrorCode::kInput, where_,
                  fmt::format("{}expected an object, got {}", at_.empty() ? "" : at_ + ": ", object.describe()));
  }

  const Json* find(const std::string& name) {
    known_.push_back(name);
    return object_.find(name);
  }

  [[noreturn]] void refuse(const std::string& name, const std::string& expected, const std::string& got) const {
    throw Error(ErrorCode::kInput, where_, fmt::format("{}: expected {}, got {}", place(name), expected, got));
  }

  std::string text(const std::string& name) {
    const Json* value = find(name);
    if (value == nullptr) return "";
    if (!value->is_string()) refuse(name, "a text", value->describe());
    return value->as_string();
  }

  bool flag(const std::string& name, bool otherwise) {
    const Json* value = find(name);
    if (value == nullptr) return otherwise;
    if (!value->is_bool()) refuse(name, "true or false", value->describe());
    return value->as_bool();
  }

  std::optional<double> number(const std::string& name) {
    const Json* value = find(name);
    if (value == nullptr || value->is_null()) return std::nullopt;
    return number_of(*value, name);
  }

  double number_within(const std::string& name, double low, double high, double otherwise) {
    const double value = number(name).value_or(otherwise);
    if (!(value >= low && value <= high))
      refuse(name, fmt::format("a number in {}..{}", low, high), fmt::format("{}", value));
    return value;
  }

  // Members of an array; none where it is absent.
  const JsonArray& list(const std::string& name) {
    static const JsonArray kEmpty;
    const Json* value = find(name);
    if (value == nullptr) return kEmpty;
    if (!value->is_array()) refuse(name, "a list", value->describe());
    return value->as_array();
  }

  std::vector<std::string> texts(const std::string& name) {
    std::vector<std::string> found;
    for (const Json& value : list(name)) {
      if (!value.is_string()) refuse(element(name, found.size()), "a text", value.describe());
      found.push_back(value.as_string());
    }
    return found;
  }

  std::vector<double> numbers(const std::string& name) {
    std::vector<double> found;
    for (const Json& value : list(name)) found.push_back(number_of(value, element(name, found.size())));
    return found;
  }

  // Lists of `count` numbers.
  std::vector<std::vector<double>> tuples(const std::string& name, size_t count) {
    std::vector<std::vector<double>> found;
    for (const Json& value : list(name)) {
      const std::string at = element(name, found.size());
      if (!value.is_array() || value.as_array().size() != count)
        refuse(at, fmt::format("a list of {} numbers", count), value.describe());
      std::vector<double>& numbers = found.emplace_back();
      for (const Json& one : value.as_array()) numbers.push_back(number_of(one, element(at, numbers.size())));
    }
    return found;
  }

  std::vector<Fields> objects(const std::string& name) {
    std::vector<Fields> found;
    for (const Json& value : list(name)) found.emplace_back(value, where_, place(element(name, found.size())));
    return found;
  }

  std::optional<Fields> object(const std::string& name) {
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    return Fields(*value, where_, place(name));
  }

  // Of a list that has one element for each of `count` labels, or none at all.
  void check_count(const std::string& name, size_t got, size_t count, bool may_be_empty) const {
    if (got == count || (may_be_empty && got == 0)) return;
    refuse(name, fmt::format("as many as there are labels, {}", count), fmt::format("{}", got));
  }

  void check_names() const {
    for (const auto& [name, value] : object_.as_object()) {
      if (std::ranges::find(known_, name) == known_.end())
        throw Error(ErrorCode::kInput, where_,
                    fmt::format("{}: expected one of {}", place(name), fmt::join(known_, ", ")));
    }
  }

 private:
  static std::string element(const std::string& name, size_t number) { return fmt::format("{}[{}]", name, number); }
  std::string place(const std::string& name) const { return at_.empty() ? name : fmt::format("{}.{}", at_, name); }

  double number_of(const Json& value, const std::string& name) const {
    if (value.is_null()) return kMissing;
    if (!value.is_number()) refuse(name, "a number or null", value.describe());
    return value.as_number();
  }

  const Json& object_;
  std::string where_, at_;
  std::vector<std::string> known_;
};

constexpr double kLeastWidth = 200, kMostWidth = 4000;

double width_of(Fields& fields) {
  return fields.number_within("width", kLeastWidth, kMostWidth, 640);
}

Spacing spacing_of(Fields& fields) {
  constexpr auto kWords =
      std::to_array<std::pair<std::string_view, Spacing>>({{"linear", Spacing::kLinear},
                                                           {"logarithmic", Spacing::kLogarithmic},
                                                           {"logarithmic_if_wide", Spacing::kLogarithmicIfWide}});
  const std::string word = fields.text("spacing");
  if (word.empty()) return Spacing::kLinear;
  for (const auto& [name, spacing] : kWords) {
    if (name == word) return spacing;
  }
  fields.refuse("spacing", "linear, logarithmic or logarithmic_if_wide", quote_json(word));
}

Axis axis_of(Fields& chart, const std::string& name) {
  std::optional<Fields> fields = chart.object(name);
  if (!fields) return {};
  Axis axis{.title = fields->text("title"),
            .spacing = spacing_of(*fields),
            .low = fields->number("low"),
            .high = fields->number("high"),
            .is_whole = fields->flag("whole", false)};
  fields->check_names();
  return axis;
}

Line line_of(Fields& fields) {
  Line line{
      .name = fields.text("name"), .points = {}, .is_joined = fields.flag("joined", true), .note = fields.text("note")};
  for (const std::vector<double>& point : fields.tuples("points", 2)) line.points.push_back({point[0], point[1]});
  fields.check_names();
  return line;
}

Picture draw_lines(Fields& fields) {
  LineChart chart{.title = fields.text("title"),
                  .x = axis_of(fields, "x"),
                  .y = axis_of(fields, "y"),
                  .lines = {},
                  .width = width_of(fields)};
  for (Fields& one : fields.objects("series")) chart.lines.push_back(line_of(one));
  if (std::optional<Fields> divisions = fields.object("divisions")) {
    chart.divisions = {.name = divisions->text("name"), .at = divisions->numbers("at")};
    divisions->check_names();
  }
  fields.check_names();
  return draw(chart);
}

Picture draw_bars(Fields& fields) {
  BarChart chart{.title = fields.text("title"),
                 .x_title = fields.text("x_title"),
                 .labels = fields.texts("labels"),
                 .series = {},
                 .target = fields.text("target"),
                 .width = width_of(fields)};
  for (Fields& one : fields.objects("series")) {
    Bars bars{.name = one.text("name"), .values = one.numbers("values"), .targets = one.numbers("targets")};
    one.check_count("values", bars.values.size(), chart.labels.size(), false);
    one.check_count("targets", bars.targets.size(), chart.labels.size(), true);
    one.check_names();
    chart.series.push_back(std::move(bars));
  }
  fields.check_names();
  return draw(chart);
}

Picture draw_dots(Fields& fields) {
  DotChart chart{.title = fields.text("title"),
                 .x = axis_of(fields, "x"),
                 .labels = fields.texts("labels"),
                 .series = {},
                 .notes = fields.texts("notes"),
                 .notes_title = fields.text("notes_title"),
                 .width = width_of(fields)};
  fields.check_count("notes", chart.notes.size(), chart.labels.size(), true);
  for (Fields& one : fields.objects("series")) {
    Dots dots{.name = one.text("name"), .values = {}};
    for (const std::vector<double>& dot : one.tuples("values", 2))
      dots.values.push_back({.value = dot[0], .reach = dot[1]});
    one.check_count("values", dots.values.size(), chart.labels.size(), false);
    one.check_names();
    chart.series.push_back(std::move(dots));
  }
  fields.check_names();
  return draw(chart);
}

Picture draw_boxes(Fields& fields) {
  BoxPlot chart{.title = fields.text("title"),
                .x = axis_of(fields, "x"),
                .labels = fields.texts("labels"),
                .series = {},
                .width = width_of(fields)};
  for (Fields& one : fields.objects("series")) {
    Boxes boxes{.name = one.text("name"), .values = {}};
    for (const std::vector<double>& box : one.tuples("values", 5))
      boxes.values.push_back({box[0], box[1], box[2], box[3], box[4]});
    one.check_count("values", boxes.values.size(), chart.labels.size(), false);
    one.check_names();
    chart.series.push_back(std::move(boxes));
  }
  fields.check_names();
  return draw(chart);
}

Ramp ramp_of(Fields& fields) {
  const std::string word = fields.text("ramp");
  if (word.empty() || word == "sequential") return Ramp::kSequential;
  if (word != "diverging") fields.refuse("ramp", "sequential or diverging", quote_json(word));
  return Ramp::kDiverging;
}

Picture draw_heat_map(Fields& fields) {
  HeatMap map{.title = fields.text("title"),
              .x_title = fields.text("x_title"),
              .y_title = fields.text("y_title"),
              .value_title = fields.text("value_title"),
              .columns = fields.texts("columns"),
              .rows = fields.texts("rows"),
              .values = {},
              .ramp = ramp_of(fields),
              .most = fields.number("most"),
              .width = width_of(fields)};
  const std::vector<std::vector<double>> rows = fields.tuples("values", map.columns.size());
  if (rows.size() != map.rows.size())
    fields.refuse("values", fmt::format("{} lists, one for each of the rows", map.rows.size()),
                  fmt::format("{}", rows.size()));
  for (const std::vector<double>& row : rows) map.values.insert(map.values.end(), row.begin(), row.end());
  fields.check_names();
  return draw(map);
}

std::optional<size_t> group_of(Fields& fields, size_t groups) {
  const std::optional<double> group = fields.number("group");
  if (!group) return std::nullopt;
  if (!(*group >= 0 && *group < static_cast<double>(groups) && *group == std::floor(*group)))
    fields.refuse("group", fmt::format("the number of one of {} groups, from 0", groups), fmt::format("{}", *group));
  return static_cast<size_t>(*group);
}

Picture draw_diagram(Fields& fields) {
  Diagram chart{.title = fields.text("title"), .groups = fields.texts("groups"), .blocks = {}};
  constexpr double kMost = 4000;
  for (Fields& one : fields.objects("boxes")) {
    chart.blocks.push_back({.text = one.text("text"),
                            .x = one.number_within("x", 0, kMost, 0),
                            .y = one.number_within("y", 0, kMost, 0),
                            .width = one.number_within("width", 1, kMost, 100),
                            .height = one.number_within("height", 1, kMost, 30),
                            .group = group_of(one, chart.groups.size())});
    one.check_names();
  }
  for (Fields& one : fields.objects("arrows")) {
    std::vector<Point>& arrow = chart.arrows.emplace_back();
    for (const std::vector<double>& point : one.tuples("points", 2)) arrow.push_back({point[0], point[1]});
    for (const Point& point : arrow) {
      if (!(point.x >= 0 && point.x <= kMost && point.y >= 0 && point.y <= kMost))
        one.refuse("points", fmt::format("numbers in 0..{}", kMost), fmt::format("[{}, {}]", point.x, point.y));
    }
    one.check_names();
  }
  fields.check_names();
  return draw(chart);
}

struct Kind {
  std::string_view name;
  Picture (*draw)(Fields& fields);
};
constexpr auto kKinds = std::to_array<Kind>({{"lines", draw_lines},
                                             {"bars", draw_bars},
                                             {"dots", draw_dots},
                                             {"boxes", draw_boxes},
                                             {"heat_map", draw_heat_map},
                                             {"diagram", draw_diagram}});

Picture draw_one(Fields fields) {
  const std::string word = fields.text("kind");
  const auto found = std::ranges::find(kKinds, word, &Kind::name);
  if (found == kKinds.end())
    fields.refuse("kind", "lines, bars, dots, boxes, heat_map or diagram", word.empty() ? "none" : quote_json(word));
  return found->draw(fields);
}

}  // namespace

Picture draw_json(const Json& document, const std::string& where) {
  Fields fields(document, where, "");
  if (document.find("charts") == nullptr) return draw_one(std::move(fields));
  std::vector<Picture> pictures;
  for (Fields& one : fields.objects("charts")) pictures.push_back(draw_one(std::move(one)));
  constexpr double kMostColumns = 16;
  const double columns = fields.number_within("columns", 1, kMostColumns, 1);
  if (columns != std::floor(columns)) fields.refuse("columns", "a whole number", fmt::format("{}", columns));
  if (pictures.empty()) fields.refuse("charts", "at least one", "none");
  fields.check_names();
  return arranged(pictures, static_cast<size_t>(columns));
}

}  // namespace deberta::chart
