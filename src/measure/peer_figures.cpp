// JSON lines to ratios.
#include "measure/peer_figures.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "base/file.h"
#include "deberta/error.h"

namespace deberta::measure {
namespace {

double positive(const Json& line, std::string_view key, const std::string& where) {
  const Json* value = line.find(key);
  if (value == nullptr || !value->is_number() || !(value->as_number() > 0)) {
    throw Error(ErrorCode::kJson, where, fmt::format("{}: expected a number above 0", key));
  }
  return value->as_number();
}

std::string text_of(const Json& line, std::string_view key) {
  const Json* value = line.find(key);
  return value != nullptr && value->is_string() ? value->as_string() : "";
}

}  // namespace

PeerFigures::PeerFigures(const std::string& path) {
  const std::string text = read_file(path, uint64_t{1} << 26);
  size_t number = 1;
  for (size_t at = 0; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view words = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (words.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = fmt::format("{}:{}", path, number);
    const Json line = parse_json(words, where);
    const std::string what = text_of(line, "what"), peer = text_of(line, "peer");
    if (line.find("error") != nullptr || peer.empty()) continue;
    const auto seq = [&] { return static_cast<int64_t>(positive(line, "seq", where)); };
    if (what == "latency") {
      figures_.push_back({what, peer, seq(), positive(line, "ms_min", where)});
    } else if (what == "train") {
      figures_.push_back({what, peer, seq(), positive(line, "tokens_per_s", where)});
    } else if (what == "mixed") {
      figures_.push_back({what, peer, 0, positive(line, "tokens_per_s", where)});
    }
  }
}

JsonObject PeerFigures::ratios(const std::string& what, int64_t seq, double value) const {
  JsonObject ratios;
  for (const Figure& figure : figures_) {
    if (figure.what != what || figure.seq != seq) continue;
    const double ratio = what == "latency" ? figure.value / value : value / figure.value;
    ratios.emplace_back(figure.peer, std::round(ratio * 1000) / 1000);
  }
  return ratios;
}

}  // namespace deberta::measure
