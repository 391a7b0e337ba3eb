// Writers that use zlib, liblzma, libzstd and libbz2.
#include "support/compressed.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <stdexcept>

namespace deberta::test {
namespace {

void require(bool is_right, const char* what) {
  if (!is_right) throw std::runtime_error(what);
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  require(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "deflateInit2");
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflate");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string bzip2(std::string_view text) {
  std::string out(text.size() + text.size() / 100 + 600, '\0');  // as the library's manual bounds it
  auto size = static_cast<unsigned>(out.size());
  require(BZ2_bzBuffToBuffCompress(out.data(), &size, const_cast<char*>(text.data()),
                                   static_cast<unsigned>(text.size()), 9, 0, 0) == BZ_OK,
          "bzip2");
  out.resize(size);
  return out;
}

}  // namespace

std::string zstd_with_window(std::string_view text, int log) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (log > 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, log);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
  // Streamed without its size, so that the window is not reduced to that size.
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_inBuffer from{text.data(), text.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  require(ZSTD_isError(ZSTD_compressStream2(context, &to, &from, ZSTD_e_continue)) == 0, "zstd");
  require(ZSTD_compressStream2(context, &to, &from, ZSTD_e_end) == 0, "zstd end");
  ZSTD_freeCCtx(context);
  out.resize(to.pos);
  return out;
}

std::string xz_with_dictionary(std::string_view text, uint32_t size_bytes) {
  lzma_options_lzma options;
  lzma_lzma_preset(&options, 1);
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  require(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const uint8_t*>(text.data()),
                                    text.size(), reinterpret_cast<uint8_t*>(out.data()), &size, out.size()) == LZMA_OK,
          "xz");
  out.resize(size);
  if (size_bytes == 0) return out;
  // The writer would need ten times that memory: the size is patched into the block header, with its checksum.
  constexpr size_t kHeader = 12;
  const size_t header_bytes = (static_cast<size_t>(static_cast<uint8_t>(out[kHeader])) + 1) * 4;
  uint8_t bits = 0;  // dictionary size as the format writes it: 2 | (bits & 1) << (bits / 2 + 11)
  while (bits < 39 && ((2u | (bits & 1u)) << (bits / 2 + 11)) < size_bytes) ++bits;
  const size_t at = out.find("\x21\x01", kHeader) + 2;
  out[at] = static_cast<char>(bits);
  const uint32_t crc = lzma_crc32(reinterpret_cast<const uint8_t*>(&out[kHeader]), header_bytes - 4, 0);
  for (size_t i = 0; i < 4; ++i) out[kHeader + header_bytes - 4 + i] = static_cast<char>(crc >> (8 * i));
  return out;
}

std::string compressed(std::string_view text, Compression compression) {
  switch (compression) {
    case Compression::kGzip:
      return gzip(text);
    case Compression::kXz:
      return xz_with_dictionary(text, 0);
    case Compression::kZstd:
      return zstd_with_window(text, 0);
    case Compression::kBzip2:
      return bzip2(text);
    case Compression::kNone:
      break;
  }
  return std::string(text);
}

}  // namespace deberta::test
