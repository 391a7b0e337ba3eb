// Macros for the tiles: loops that become straight code, and the choice of a tile's rows.
#if defined(__clang__)
#define DEBERTA_UNROLL _Pragma("unroll")
#else
#define DEBERTA_UNROLL _Pragma("GCC unroll 8")
#endif

// tile(t) calls function<t.rows>, rows 1 .. 6.
#define DEBERTA_TILE_OF_ROWS(function) \
  void tile(const GemmTile& t) {       \
    switch (t.rows) {                  \
      case 1:                          \
        return function<1>(t);         \
      case 2:                          \
        return function<2>(t);         \
      case 3:                          \
        return function<3>(t);         \
      case 4:                          \
        return function<4>(t);         \
      case 5:                          \
        return function<5>(t);         \
      default:                         \
        return function<6>(t);         \
    }                                  \
  }
