// zlib, liblzma, libzstd and libbz2 behind one call.
#include "data/decompressor.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <limits>

#include "data/endings.h"
#include "data/magic.h"
#include "deberta/error.h"

namespace deberta {
namespace {

struct Kind {
  Compression compression;
  std::string_view name;
  std::string_view ending;
};
constexpr Kind kKinds[] = {{Compression::kNone, "plain", ""},
                           {Compression::kGzip, "gzip", ".gz"},
                           {Compression::kXz, "xz", ".xz"},
                           {Compression::kZstd, "zstd", ".zst"},
                           {Compression::kBzip2, "bzip2", ".bz2"}};

using namespace std::string_view_literals;
constexpr std::pair<Compression, Magic> kMagics[] = {
    {Compression::kGzip, {"\x1F\x8B"sv}},
    {Compression::kXz, {"\xFD\x37zXZ\0"sv}},
    {Compression::kZstd, {"\x28\xB5\x2F\xFD"sv}},
    // A skippable frame, as parallel compressors put in front.
    {Compression::kZstd, {"\x50\x2A\x4D\x18"sv, 0, 0, 0xF0}},
    {Compression::kBzip2, {"BZh1\x31\x41\x59\x26\x53\x59"sv, 0, 3, 0xF0}},  // a block
    {Compression::kBzip2, {"BZh1\x17\x72\x45\x38\x50\x90"sv, 0, 3, 0xF0}},  // none
};

[[noreturn]] void refuse_memory(Compression compression) {
  throw Error(ErrorCode::kOutOfMemory, std::string(to_string(compression)), "no memory for the decoder");
}

class GzipDecoder final : public Decompressor {
 public:
  GzipDecoder() {
    constexpr int kGzipWindow = 15 + 16;  // a gzip header, the largest window
    if (::inflateInit2(&stream_, kGzipWindow) != Z_OK) refuse_memory(Compression::kGzip);
  }
  ~GzipDecoder() override { ::inflateEnd(&stream_); }

  Step step(Bytes in, std::span<std::byte> out, bool) override {
    if (is_between_ && in.empty()) return {.is_whole = true};
    if (is_between_) ::inflateReset(&stream_);
    is_between_ = false;
    const size_t room = std::min<size_t>(out.size(), std::numeric_limits<uInt>::max());
    const size_t there = std::min<size_t>(in.size(), std::numeric_limits<uInt>::max());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    stream_.avail_in = static_cast<uInt>(there);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(room);
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    Step step{.consumed = there - stream_.avail_in, .produced = room - stream_.avail_out};
    is_between_ = step.is_whole = result == Z_STREAM_END;
    if (result == Z_MEM_ERROR) refuse_memory(Compression::kGzip);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      step.problem = stream_.msg != nullptr ? stream_.msg : "not a gzip stream";
    return step;
  }

 private:
  z_stream stream_{};
  bool is_between_ = false;  // a stream has ended, another may begin
};

class XzDecoder final : public Decompressor {
 public:
  XzDecoder() {
    if (::lzma_stream_decoder(&stream_, kMaxMemoryBytes, LZMA_CONCATENATED) != LZMA_OK) refuse_memory(Compression::kXz);
  }
  ~XzDecoder() override { ::lzma_end(&stream_); }

  Step step(Bytes in, std::span<std::byte> out, bool is_end) override {
    stream_.next_in = reinterpret_cast<const uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret result = ::lzma_code(&stream_, is_end ? LZMA_FINISH : LZMA_RUN);
    Step step{.consumed = in.size() - stream_.avail_in, .produced = out.size() - stream_.avail_out};
    step.is_whole = result == LZMA_STREAM_END;
    if (result == LZMA_MEM_ERROR) refuse_memory(Compression::kXz);
    step.is_too_large = result == LZMA_MEMLIMIT_ERROR;
    if (result == LZMA_FORMAT_ERROR) step.problem = "not an xz stream";
    if (result == LZMA_OPTIONS_ERROR) step.problem = "unsupported options";
    if (result == LZMA_DATA_ERROR) step.problem = "damaged data";
    return step;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class ZstdDecoder final : public Decompressor {
 public:
  explicit ZstdDecoder(int window_log) : stream_(::ZSTD_createDCtx()) {
    if (stream_ == nullptr) refuse_memory(Compression::kZstd);
    ::ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, window_log);
  }
  ~ZstdDecoder() override { ::ZSTD_freeDCtx(stream_); }

  Step step(Bytes in, std::span<std::byte> out, bool) override {
    if (is_between_ && in.empty()) return {.is_whole = true};
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const size_t result = ::ZSTD_decompressStream(stream_, &to, &from);
    Step step{.consumed = from.pos, .produced = to.pos};
    if (::ZSTD_isError(result) != 0) {
      const ZSTD_ErrorCode code = ::ZSTD_getErrorCode(result);
      if (code == ZSTD_error_memory_allocation) refuse_memory(Compression::kZstd);
      step.is_too_large = code == ZSTD_error_frameParameter_windowTooLarge;
      if (!step.is_too_large) step.problem = ::ZSTD_getErrorName(result);
      return step;
    }
    is_between_ = step.is_whole = result == 0;
    return step;
  }

 private:
  ZSTD_DCtx* stream_;
  bool is_between_ = false;
};

class Bzip2Decoder final : public Decompressor {
 public:
  Bzip2Decoder() { begin(); }
  ~Bzip2Decoder() override { ::BZ2_bzDecompressEnd(&stream_); }

  Step step(Bytes in, std::span<std::byte> out, bool) override {
    if (is_between_ && in.empty()) return {.is_whole = true};
    if (is_between_) {
      ::BZ2_bzDecompressEnd(&stream_);
      begin();
    }
    const size_t room = std::min<size_t>(out.size(), std::numeric_limits<unsigned>::max());
    const size_t there = std::min<size_t>(in.size(), std::numeric_limits<unsigned>::max());
    stream_.next_in = reinterpret_cast<char*>(const_cast<std::byte*>(in.data()));
    stream_.avail_in = static_cast<unsigned>(there);
    stream_.next_out = reinterpret_cast<char*>(out.data());
    stream_.avail_out = static_cast<unsigned>(room);
    const int result = ::BZ2_bzDecompress(&stream_);
    Step step{.consumed = there - stream_.avail_in, .produced = room - stream_.avail_out};
    is_between_ = step.is_whole = result == BZ_STREAM_END;
    if (result == BZ_MEM_ERROR) refuse_memory(Compression::kBzip2);
    if (result == BZ_DATA_ERROR_MAGIC) step.problem = "not a bzip2 stream";
    if (result == BZ_DATA_ERROR) step.problem = "damaged data";
    return step;
  }

 private:
  void begin() {
    stream_ = {};
    if (::BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) refuse_memory(Compression::kBzip2);
    is_between_ = false;
  }

  bz_stream stream_{};
  bool is_between_ = false;  // a stream has ended, another may begin
};

}  // namespace

std::string_view to_string(Compression compression) {
  return std::find_if(std::begin(kKinds), std::end(kKinds),
                      [&](const Kind& kind) { return kind.compression == compression; })
      ->name;
}

Compression compression_of(std::string_view path) {
  for (const Kind& kind : kKinds) {
    if (!kind.ending.empty() && has_ending(path, kind.ending)) return kind.compression;
  }
  return Compression::kNone;
}

Compression compression_in(std::string_view bytes) {
  const auto entry = std::find_if(std::begin(kMagics), std::end(kMagics),
                                  [&](const auto& each) { return match(each.second, bytes) == Match::kYes; });
  return entry == std::end(kMagics) ? Compression::kNone : entry->first;
}

bool may_become_compression(std::string_view bytes) {
  return std::any_of(std::begin(kMagics), std::end(kMagics),
                     [&](const auto& each) { return match(each.second, bytes) == Match::kTooShort; });
}

std::string_view without_compression_ending(std::string_view path) {
  for (const Kind& kind : kKinds) {
    if (!kind.ending.empty() && has_ending(path, kind.ending)) return path.substr(0, path.size() - kind.ending.size());
  }
  return path;
}

std::unique_ptr<Decompressor> make_decompressor(Compression compression, int zstd_window_log) {
  switch (compression) {
    case Compression::kGzip:
      return std::make_unique<GzipDecoder>();
    case Compression::kXz:
      return std::make_unique<XzDecoder>();
    case Compression::kZstd:
      return std::make_unique<ZstdDecoder>(zstd_window_log);
    case Compression::kBzip2:
      return std::make_unique<Bzip2Decoder>();
    case Compression::kNone:
      break;
  }
  return nullptr;
}

}  // namespace deberta
