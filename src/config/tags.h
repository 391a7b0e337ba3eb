// What the labels of a token head mean: where in an entity a word stands, and of which kind the entity is.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace deberta {

enum class TagPlace { kOutside, kBegin, kInside, kEnd, kSingle };

constexpr const char* kOutsideTag = "O";

struct Tag {
  TagPlace place = TagPlace::kOutside;
  std::string kind;  // what an answer shows: the label without its prefix
};

// Whether a word with `tag` goes on with the entity that `before`, the tag of the word before it, is in.
bool continues(const Tag& before, const Tag& tag);

// The labels of a model or of a file, read together: their scheme shows only in all of them. BIO, IOB1, IO, BIOES
// (BMES) and BILOU (BMEWO), with a letter in either case and - or _ before the kind; a letter alone is a tag of the
// kind "_". A label that is no tag of the scheme ("e-mail" among B-PER and I-PER, "LOC" among no others) is a kind as
// it stands, and goes on as long as it is repeated. O alone is outside.
class TagSet {
 public:
  explicit TagSet(const std::vector<std::string>& labels);
  const Tag& of(const std::string& label) const;  // one of them; throws kInternal for another

 private:
  std::map<std::string, Tag, std::less<>> tags_;
};

}  // namespace deberta
