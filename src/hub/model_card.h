// What a model's card says about it in its front matter: README.md of its folder, between two lines of ---.
#pragma once
#include <string>

namespace deberta {

// One line each; empty where the card does not say it.
struct ModelCard {
  std::string license;  // as the hub names licences
  std::string terms;    // licences of what the model was made from
  std::string limits;   // what it cannot do
};

// Empty for a folder without a card.
ModelCard read_model_card(const std::string& folder);

}  // namespace deberta
