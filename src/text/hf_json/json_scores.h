// A score of a tokenizer.json as the tokenizers library reads it.
#pragma once

namespace deberta {

// The library makes the number from its decimal digits by one multiplication or division, which may miss the nearest
// double by one unit in the last place (of 32,000 published scores it misses 8,173). Ties depend on it. `value` is the
// double nearest to what the file says; the file writes it in the shortest form, as Python and the library itself do.
double library_score(double value);

}  // namespace deberta
