// JSON Lines: each row that is accepted is written and read back the same; after an error the next row is read.
#include "data/json_rows.h"
#include "fuzz.h"

namespace deberta::fuzz {

void run(Bytes input) {
  JsonLineReader reader(LineReader(ByteSource(input, "in")));
  std::string written;
  size_t rows = 0, accepted = 0;
  for (JsonRow row; reader.next(row); ++rows) {
    FUZZ_REQUIRE(row.where == reader.lines().where());
    if (row.error) {
      FUZZ_REQUIRE(row.error->problems().front().where == row.where);
      continue;
    }
    written += row.value.dump() + "\n";
    ++accepted;
  }
  FUZZ_REQUIRE(rows + reader.blank_lines() == reader.lines().number());
  JsonLineReader again(LineReader(ByteSource(to_bytes(written), "again")));
  std::string repeated;
  for (JsonRow row; again.next(row); --accepted) {
    FUZZ_REQUIRE(!row.error);
    repeated += row.value.dump() + "\n";
  }
  FUZZ_REQUIRE(accepted == 0 && repeated == written);
}

}  // namespace deberta::fuzz
