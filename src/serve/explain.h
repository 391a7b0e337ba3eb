// The explorer's numbers: the attention terms of a text, kept for a while under an id, and given a head at a time.
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

class Explanations {
 public:
  // `most_bytes`: of the terms of a text, and of all that are kept.
  explicit Explanations(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Runs the text of `body` through the model. Throws kValidation for a text of more than 256 tokens, or whose terms
  // would take more than most_bytes.
  // What it shows is kept for `owner`: others do not find it.
  HttpResponse explain(const ServedModel& model, Body& body, const std::string& owner, int64_t now);

  // `query`: id and what is asked of it. Throws kNotFound for an id that is not kept (any more), kValidation.
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
