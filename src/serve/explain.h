// The explorer's numbers: the attention terms of a text, kept for a while under an id, and returned a head at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "deberta/analysis.h"
#include "serve/answering.h"
#include "serve/body.h"
#include "serve/http.h"

namespace deberta::serve {

// The value of a name in a query of plain words and numbers; empty: there is none.
std::string_view query_value(std::string_view query, std::string_view name);

// The row of the relative table for each distance in a text of `length` tokens, as `query` says; no text is run. Throws
// kValidation.
HttpResponse explain_positions(const ServedModel& model, std::string_view query);

class Explanations {
 public:
  // `most_bytes`: the limit for the terms of a text, and for all that are kept.
  explicit Explanations(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Runs the text of `body` through the model and keeps the result for `owner`: others do not find it. Throws
  // kValidation for a text of more than 256 tokens, or whose terms would take more than most_bytes.
  HttpResponse explain(const ServedModel& model, Body& body, const std::string& owner, int64_t now);

  // `query`: an id and what it should show. Throws kNotFound for an id that is not kept (any more), kValidation.
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
  std::string keep(AttentionTerms terms, const std::string& owner, int64_t now);
  void forget(int64_t now);

  const size_t most_bytes_;
  std::mutex mutex_;
  std::list<Kept> kept_;  // asked last first
};

}  // namespace deberta::serve
