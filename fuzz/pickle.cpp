// One pickle with the names of a state dict; then a walk over everything it describes, which no cycle may trap.
#include "base/pickle_machine.h"

#include "checkpoint/bin_storages.h"
#include "fuzz.h"

namespace deberta::fuzz {
namespace {

// As deep as a reader of values goes.
void walk(const Pickle& pickle, const PickleValue& value, int depth, size_t& budget) {
  if (depth == 0 || budget == 0) return;
  --budget;
  FUZZ_REQUIRE(!to_string(value.kind).empty());
  if (value.kind == PickleKind::kGlobal) FUZZ_REQUIRE(!pickle.global_of(value).name.empty());
  for (const PickleValue& item : pickle.items(value)) walk(pickle, item, depth - 1, budget);
}

}  // namespace

void run(Bytes input) {
  const Pickle pickle = parse_pickle(input, "in", tensor_globals());
  FUZZ_REQUIRE(pickle.size_bytes() <= input.size());
  FUZZ_REQUIRE(input[pickle.size_bytes() - 1] == std::byte{'.'});
  size_t budget = 10000;
  walk(pickle, pickle.root(), 64, budget);
  for (const PickleValue& storage : pickle.storages()) FUZZ_REQUIRE(storage.kind == PickleKind::kStorage);
  // What follows the end is ignored.
  const Pickle again = parse_pickle(input.first(pickle.size_bytes()), "in", tensor_globals());
  FUZZ_REQUIRE(again.root().kind == pickle.root().kind);
}

}  // namespace deberta::fuzz
