// Options under the heading General: those of every verb.
#include "options/table/rows.h"

namespace deberta::option_rows {
namespace {

constexpr OptionRow kGeneralRows[] = {
    OptionRow{"progress", 0, kChoice, "auto", "auto|on|off",
              "classify nli zero-shot ner extract qa choose rerank fill score embed detect analyze eval tokenize check "
              "convert pretrain finetune ablate",
              "progress on standard error; auto: a bar on a terminal, a JSON line every 30 s elsewhere"},
    OptionRow{"quiet", 'q', kFlag, "", "", "*", "no notes or warnings on standard error"},
    OptionRow{"config", 0, kText, "", "FILE", "*",
              "read options from this JSON file: {\"threads\": 2, \"qa\": {\"top-k\": 3}}; options under a verb apply "
              "to that verb only"},
    OptionRow{"print-config", 0, kFlag, "", "", "*",
              "print the options that are set, as a --config file, with their origins on standard error, and exit"},
};
static_assert(are_rows(kGeneralRows));

}  // namespace

std::span<const OptionRow> general_rows() {
  return kGeneralRows;
}

}  // namespace deberta::option_rows
