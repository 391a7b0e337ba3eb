// A sequence lock per slot, made of atomic words only: a reader that acquires a new word also sees that the version
// changed before it.
#include "text/word_cache.h"

#include <bit>
#include <cstring>

namespace deberta {
namespace {

constexpr int kSetBits = 14;  // 2 MiB: the common words of a language
constexpr size_t kWords = WordCache::kMaxBytes / 8;

// All ones over the bytes that a word of each size has.
constexpr auto kMasks = [] {
  std::array<std::array<uint64_t, kWords>, WordCache::kMaxBytes + 1> masks{};
  for (size_t size = 0; size < masks.size(); ++size) {
    for (size_t byte = 0; byte < size; ++byte) {
      const size_t shift = std::endian::native == std::endian::little ? byte % 8 : 7 - byte % 8;
      masks[size][byte / 8] |= uint64_t{0xFF} << (8 * shift);
    }
  }
  return masks;
}();

uint64_t pack(uint64_t size_bytes, const WordCache::Split& split) {
  return size_bytes | uint64_t{split.count} << 8 | uint64_t{std::bit_cast<uint32_t>(split.reach)} << 32;
}

}  // namespace

WordCache::Key::Key(std::string_view text, size_t begin, size_t end) : size_bytes_(end - begin) {
  if (begin + kMaxBytes <= text.size()) {  // a copy of known size is a few loads
    std::memcpy(bytes_.data(), text.data() + begin, kMaxBytes);
    for (size_t i = 0; i < kWords; ++i) bytes_[i] &= kMasks[size_bytes_][i];
  } else {
    bytes_ = {};
    std::memcpy(bytes_.data(), text.data() + begin, size_bytes_);
  }
  uint64_t hash = bytes_[0] * 0x9E3779B97F4A7C15;
  hash = (std::rotl(hash, 29) ^ bytes_[1]) * 0xBF58476D1CE4E5B9;
  hash = (std::rotl(hash, 29) ^ bytes_[2] ^ size_bytes_) * 0x94D049BB133111EB;
  set_ = hash >> (64 - kSetBits);
}

WordCache::WordCache() : sets_(std::make_unique<std::array<Slot, kWays>[]>(size_t{1} << kSetBits)) {}

bool WordCache::find(const Key& key, Split& split) const {
  for (const Slot& slot : sets_[key.set_]) {
    if (read(slot, key, split)) return true;
  }
  return false;
}

bool WordCache::read(const Slot& slot, const Key& key, Split& split) {
  const uint64_t version = slot.version.load(std::memory_order_acquire);
  const uint64_t facts = slot.facts.load(std::memory_order_acquire);
  if ((facts & 0xFF) != key.size_bytes_) return false;  // 0: nothing there yet
  uint64_t difference = version & 1;
  for (size_t i = 0; i < kWords; ++i) difference |= slot.bytes[i].load(std::memory_order_acquire) ^ key.bytes_[i];
  if (difference != 0) return false;
  for (size_t i = 0; i < kMaxSteps / 2; ++i) {
    const uint64_t two = slot.steps[i].load(std::memory_order_acquire);
    split.steps[2 * i] = static_cast<uint32_t>(two);
    split.steps[2 * i + 1] = static_cast<uint32_t>(two >> 32);
  }
  split.count = static_cast<uint32_t>(facts >> 8 & 0xFF);
  split.reach = std::bit_cast<float>(static_cast<uint32_t>(facts >> 32));
  return slot.version.load(std::memory_order_relaxed) == version;
}

void WordCache::put(const Key& key, const Split& split) const {
  std::array<Slot, kWays>& set = sets_[key.set_];
  // Each time the other one: versions go up by two.
  uint64_t written = 0;
  for (const Slot& slot : set) written += slot.version.load(std::memory_order_relaxed) / 2;
  Slot& slot = set[written % kWays];
  uint64_t version = slot.version.load(std::memory_order_relaxed);
  if ((version & 1) != 0 || !slot.version.compare_exchange_strong(version, version + 1, std::memory_order_acquire))
    return;
  for (size_t i = 0; i < kWords; ++i) slot.bytes[i].store(key.bytes_[i], std::memory_order_release);
  slot.facts.store(pack(key.size_bytes_, split), std::memory_order_release);
  for (size_t i = 0; i < kMaxSteps / 2; ++i)
    slot.steps[i].store(split.steps[2 * i] | uint64_t{split.steps[2 * i + 1]} << 32, std::memory_order_release);
  slot.version.store(version + 2, std::memory_order_release);
}

}  // namespace deberta
