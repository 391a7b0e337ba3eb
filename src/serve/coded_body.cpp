// Decompresses into a string that grows no faster than what is in it, and never beyond the limit.
#include "serve/coded_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>

#include "base/ascii.h"
#include "serve/api_error.h"

namespace deberta::serve {
namespace {

struct Coding {
  std::string_view name;
  Compression compression;
};
constexpr Coding kCodings[] = {{"gzip", Compression::kGzip},
                               {"x-gzip", Compression::kGzip},
                               {"zstd", Compression::kZstd},
                               {"identity", Compression::kNone}};
constexpr int kZstdWindowLog = 23;  // no client may ask for more, and a decoder takes it as soon as a frame begins

[[noreturn]] void refuse_coding(std::string_view value) {
  throw ApiError(ApiCode::kMediaType,
                 fmt::format("Content-Encoding: expected one of gzip, zstd and identity, got {}", header_text(value)));
}

Compression parse_coding(std::string_view value) {
  const std::string name = lower_case(value);
  const auto found = std::ranges::find(kCodings, std::string_view(name), &Coding::name);
  if (found == std::end(kCodings)) refuse_coding(value);
  return found->compression;
}

void check_step(const Decompressor::Step& step, Compression coding) {
  if (step.is_too_large)
    throw ApiError(ApiCode::kTooLarge, fmt::format("body: {}: expected a window of at most {} MiB", to_string(coding),
                                                   (1 << kZstdWindowLog) >> 20));
  if (!step.problem.empty())
    throw ApiError(ApiCode::kBadRequest, fmt::format("body: damaged {} stream: {}", to_string(coding), step.problem));
  if (step.consumed == 0 && step.produced == 0 && !step.is_whole)
    throw ApiError(ApiCode::kBadRequest,
                   fmt::format("body: expected a whole {} stream, got only its beginning", to_string(coding)));
}

}  // namespace

Compression coding_of(const HttpRequest& head) {
  std::optional<Compression> coding;
  for (const auto& [name, value] : head.headers) {
    if (name != "content-encoding") continue;
    if (coding) refuse_coding("several");
    coding = parse_coding(value);
  }
  return coding.value_or(Compression::kNone);
}

std::string decoded_body(Compression coding, std::string_view coded, size_t most,
                         const std::function<void(size_t bytes)>& hold) {
  const std::unique_ptr<Decompressor> decompressor = make_decompressor(coding, kZstdWindowLog);
  Bytes left = to_bytes(coded);
  std::string text;
  size_t size = 0;  // bytes of `text` that are there
  for (bool is_whole = false; !is_whole || !left.empty();) {
    if (size == text.size()) {
      if (size > most) break;
      const size_t room =
          std::min(std::max(2 * size, kPieceBytes), most + 1);  // the last byte shows that it is too much
      hold(coded.size() + 2 * room);  // the string beside the one that it grows from, or the decoder's window
      text.resize(room);
    }
    const auto room = std::as_writable_bytes(std::span(text)).subspan(size);
    const Decompressor::Step step = decompressor->step(left, room, true);
    check_step(step, coding);
    left = left.subspan(step.consumed);
    size += step.produced;
    is_whole = step.is_whole;
  }
  if (size > most)
    throw ApiError(ApiCode::kTooLarge, fmt::format("body: expected at most {} bytes once it is decompressed", most));
  text.resize(size);
  hold(text.capacity());
  return text;
}

}  // namespace deberta::serve
