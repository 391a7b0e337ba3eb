// Remembers how words were split: texts repeat their words, and a look-up costs a tenth of a split. Holds a fixed
// number of words; newer ones replace older ones. Threads share it without locks; no result depends on what it holds.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace deberta {

class WordCache {
 public:
  static constexpr size_t kMaxBytes = 24;  // per word; longer ones are rare
  static constexpr size_t kMaxSteps = 6;

  struct Split {
    uint32_t count = 0;
    float reach = 0;  // the caller's
    std::array<uint32_t, kMaxSteps> steps{};
  };

  class Key {
   public:
    Key() = default;
    // The bytes [begin, end) of `text`, at most kMaxBytes.
    Key(std::string_view text, size_t begin, size_t end);

   private:
    friend class WordCache;
    std::array<uint64_t, kMaxBytes / 8> bytes_{};  // filled up with zeros
    uint64_t size_bytes_ = 0;
    size_t set_ = 0;
  };

  WordCache();

  // Prefetches what find() will read.
  void prefetch(const Key& key) const { __builtin_prefetch(&sets_[key.set_]); }
  // False when the word is not there, or is being written.
  bool find(const Key& key, Split& split) const;
  // Does nothing when another thread is writing to the same place. Const: what the owner computes stays the same.
  void put(const Key& key, const Split& split) const;

 private:
  // A cache line. The version is odd while the rest is written; a reader that finds it changed has read nothing.
  struct alignas(64) Slot {
    std::atomic<uint64_t> version;
    std::array<std::atomic<uint64_t>, kMaxBytes / 8> bytes;
    std::atomic<uint64_t> facts;  // size of the word, count, reach
    std::array<std::atomic<uint64_t>, kMaxSteps / 2> steps;
  };
  static constexpr size_t kWays = 2;
  static bool read(const Slot& slot, const Key& key, Split& split);
  std::unique_ptr<std::array<Slot, kWays>[]> sets_;
};

}  // namespace deberta
