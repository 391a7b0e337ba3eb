// The generator and the discriminator that a run of replaced-token detection begins with: new ones, or published files
// (model-training.md#replaced-token-detection).
#pragma once
#include <cstddef>

#include "deberta/tokenizer.h"
#include "train/model/model.h"
#include "train/model/parameters.h"
#include "train/pretrain/first_model.h"
#include "train/pretrain/settings.h"

namespace deberta::train {

struct FirstPair {
  Model generator;
  // With its own tables, as its files have them; one that begins anew and has a difference begins without one.
  Model discriminator;
  bool has_difference = false;  // the discriminator's model holds that, not tables of its own
};

struct PairForms {
  ModelForm generator, discriminator;
};
// Throws what form_of_run() and check_pair() do, kUsage for a generator of no model or too few layers.
PairForms forms_of_pair(const ModelStart& start, const PairSettings& pair, size_t longest, const Tokenizer& tokenizer);

struct PairRows {
  WordRows generator, discriminator;
};
// Which rows of the tables in the files of the pair each piece begins with. `note` as in rows_of_run().
PairRows rows_of_pair(const ModelStart& start, const PairSettings& pair, const Tokenizer& tokenizer, const Note& note);

// `beginning.note` gets what begins anew although it need not. Throws what forms_of_pair() and load_parameters() do,
// kUsage for tables that the two should share and whose files differ. Warns of a difference in the discriminator's
// files that is not that of the tables; the tables count.
FirstPair first_pair(const ModelStart& start, const PairSettings& pair, const Tokenizer& tokenizer,
                     const Beginning& beginning);

}  // namespace deberta::train
