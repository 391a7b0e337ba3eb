// The tile registers of AMX, as its sources share them: 0 .. 3 accumulate, 4 and 5 hold A, 6 and 7 the columns of B.
// Included after <immintrin.h>, <stddef.h> and <stdint.h>.
namespace deberta {
namespace {

constexpr size_t kAmxRows = 16;
constexpr size_t kTileBytes = 64;  // bytes of a tile's row

struct TileConfig {
  uint8_t palette;
  uint8_t start_row;
  uint8_t reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};

// 0, 1 and 4 have the first rows of A, 2, 3 and 5 the others. The configuration is the thread's until _tile_release.
inline void configure_tiles(size_t first = kAmxRows, size_t second = kAmxRows) {
  TileConfig config = {};
  config.palette = 1;
  const size_t rows[8] = {first, first, second, second, first, second, kAmxRows, kAmxRows};
  for (int i = 0; i < 8; ++i) {
    config.row_bytes[i] = kTileBytes;
    config.rows[i] = static_cast<uint8_t>(rows[i]);
  }
  _tile_loadconfig(&config);
}

}  // namespace
}  // namespace deberta
