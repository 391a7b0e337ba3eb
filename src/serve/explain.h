// The explorer's numbers: the attention terms of a text, kept for a while under an id, and returned a head at a time;
// what the mask decoder does; replaced tokens; sizes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "config/published_sizes.h"
#include "deberta/analysis.h"
#include "serve/answering.h"
#include "serve/body.h"
#include "serve/http.h"

namespace deberta::serve {

// The value of a name in a query, with the bytes that its %XX stand for; empty: there is none.
std::string query_value(std::string_view query, std::string_view name);

// The row of the relative table for each distance in a text of `length` tokens, as `query` says; no text is run. Throws
// kValidation.
HttpResponse explain_positions(const ServedModel& model, std::string_view query);

// Parameters by part, and the operations of the encoder for a text of `length` tokens; no text is run. Of a model that
// is served, or of a published size. Throws kValidation.
HttpResponse explain_size(const ServedModel& model, std::string_view query);
HttpResponse explain_size(const PublishedSize& size, std::string_view query);

class Explanations {
 public:
  // `most_bytes`: the limit for the terms of a text, and for all that are kept.
  explicit Explanations(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Runs the text of `body` through the model and keeps the result for `owner`: others do not find it. Throws
  // kValidation for a text of more than 256 tokens, or whose terms would take more than most_bytes.
  HttpResponse explain(const ServedModel& model, Body& body, const std::string& owner, int64_t now);

  // Keeps terms for `owner`. Returns the id under which they are found.
  std::string keep(AttentionTerms terms, const std::string& owner, int64_t now);

  size_t most_bytes() const { return most_bytes_; }

  // `query`: an id and what it should show; layers and heads count from 1. Throws kNotFound for an id that is not kept
  // (any more), kValidation.
  HttpResponse terms(std::string_view query, const std::string& owner, int64_t now);  // layer, head, term, dtype
  HttpResponse heads(std::string_view query, const std::string& owner, int64_t now);
  HttpResponse thumbnails(std::string_view query, const std::string& owner, int64_t now);  // size

 private:
  struct Kept {
    std::string id, owner;
    std::shared_ptr<const AttentionTerms> terms;
    size_t bytes = 0;
    int64_t asked = 0;  // microseconds
  };
  std::shared_ptr<const AttentionTerms> find(std::string_view query, const std::string& owner, int64_t now);
  void forget(int64_t now);

  const size_t most_bytes_;
  std::mutex mutex_;
  std::list<Kept> kept_;  // asked last first
};

// What the mask decoder does with the masks of the text of `body`: the words for each mask with it, without it and with
// other positions, and given words at the masks. The attention of its passes is kept in `kept`, as layers. Throws
// kValidation for a text without a mask, with too many, or with more tokens than may be explained, for words that would
// run for too long, and what decoder_effect() and word_fillings() throw.
HttpResponse explain_decoder(Explanations& kept, const ServedModel& model, Body& body, const std::string& owner,
                             int64_t now);

// The text of `body` through `generator` and `model`, the discriminator. `most_bytes`: the limit for the generator's
// logits. Throws kValidation for a longer text, and what replaced_walk() and check_same_pieces() throw.
HttpResponse explain_replaced(const ServedModel& generator, const ServedModel& model, Body& body, size_t most_bytes);

}  // namespace deberta::serve
