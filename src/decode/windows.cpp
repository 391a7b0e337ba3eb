// From token indices to windows and their encodings.
#include "decode/windows.h"

#include <fmt/core.h>

#include <algorithm>

#include "deberta/error.h"
#include "text/encoding.h"

namespace deberta {
namespace {

// The distance of a token from the nearer edge of the window. The text's own ends are not cuts, but need no special
// case: another window's cut is always nearer to the token than they are.
size_t context_of(const Window& window, size_t token) {
  return std::min(token - window.first, window.last - 1 - token);
}

// The tokens [window.first, window.last) of an encoding.
void append(const Encoding& from, const Window& window, Encoding& out) {
  const auto first = static_cast<std::ptrdiff_t>(window.first), last = static_cast<std::ptrdiff_t>(window.last);
  const auto copy = [&](const auto& values, auto& to) {
    to.insert(to.end(), values.begin() + first, values.begin() + last);
  };
  copy(from.ids, out.ids);
  copy(from.chars, out.chars);
  copy(from.bytes, out.bytes);
  copy(from.words, out.words);
  copy(from.is_special, out.is_special);
  copy(from.type_ids, out.type_ids);
}

void append(const Encoding& from, const Window& window, int32_t type_id, Encoding& out) {
  const size_t before = out.size();
  append(from, window, out);
  std::fill(out.type_ids.begin() + static_cast<std::ptrdiff_t>(before), out.type_ids.end(), type_id);
}

}  // namespace

std::vector<Window> make_windows(size_t tokens, size_t room, size_t overlap) {
  if (overlap >= room) {
    throw Error(ErrorCode::kUsage,
                {{.message = fmt::format("expected less than the {} tokens of text that a window has room for, got {}",
                                         room, overlap),
                  .argument = "stride",
                  .limit = room}});
  }
  std::vector<Window> windows{{0, std::min(tokens, room)}};
  while (windows.back().last < tokens) {
    const size_t first = windows.back().last - overlap;
    windows.push_back({first, std::min(tokens, first + room)});
  }
  return windows;
}

std::vector<size_t> choose_windows(std::span<const Window> windows, size_t tokens) {
  std::vector<size_t> chosen(tokens, 0);
  std::vector<size_t> most(tokens, 0);
  std::vector<bool> is_chosen(tokens, false);
  for (size_t w = 0; w < windows.size(); ++w) {
    for (size_t t = windows[w].first; t < windows[w].last; ++t) {
      const size_t context = context_of(windows[w], t);
      if (is_chosen[t] && context <= most[t]) continue;
      is_chosen[t] = true;
      most[t] = context;
      chosen[t] = w;
    }
  }
  return chosen;
}

Encoding keep_window(const Encoding& encoding, size_t begin, size_t tokens, const Window& window) {
  Encoding out;
  append(encoding, {0, begin}, out);
  append(encoding, {begin + window.first, begin + window.last}, out);
  append(encoding, {begin + tokens, encoding.size()}, out);
  if (encoding.second_begin == SIZE_MAX) return out;
  const bool is_behind = encoding.second_begin >= begin + tokens;
  out.second_begin = encoding.second_begin - (is_behind ? tokens - window.size() : 0);
  return out;
}

Encoding window_encoding(const Encoding& text, const Window& window, const SpecialIds& special) {
  Encoding out;
  append_special(special.cls, 0, out);
  append(text, window, 0, out);
  append_special(special.sep, 0, out);
  return out;
}

Encoding window_encoding(const Encoding& prefix, const Encoding& text, const Window& window,
                         const SpecialIds& special) {
  Encoding out = window_encoding(prefix, {0, prefix.size()}, special);
  append(text, window, 1, out);
  append_special(special.sep, 1, out);
  return out;
}

}  // namespace deberta
