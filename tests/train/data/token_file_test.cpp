// The file of tokens: what is written is read, both widths of ids, documents, and every kind of damage is found.
#include "train/data/token_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>

#include "base/output_file.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::train::token_file_test {
namespace {

using test::TemporaryFolder;
using Ids = std::vector<int32_t>;
using Document = std::vector<Ids>;  // the lines of a document

constexpr TokenKey kKey{std::byte{7}, std::byte{9}};

void write(const std::string& path, const std::vector<Document>& documents, size_t vocabulary) {
  write_output_file(path, [&](FileWriter& out) {
    TokenFileWriter writer(out, vocabulary, path);
    for (const Document& document : documents) {
      writer.begin_document();
      for (const Ids& line : document) writer.add(line);
    }
    writer.finish(kKey);
  });
}

Ids all_of(const TokenFile& file) {
  Ids ids(file.tokens());
  file.read(0, ids);
  return ids;
}

TEST(TokenFile, GivesWhatWasWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.dbt");
  for (const size_t vocabulary : {size_t{100}, size_t{65535}, size_t{65536}, size_t{128001}}) {
    const auto last = static_cast<int32_t>(vocabulary) - 1;
    write(path, {{{1, 2, 3}, {4}}, {{}}, {{last, 0}}}, vocabulary);
    const TokenFile file(path, vocabulary);
    EXPECT_EQ(all_of(file), (Ids{1, 2, 3, 4, last, 0}));
    EXPECT_EQ(file.documents(), 2u) << "a document without tokens does not count";
    EXPECT_EQ(file.document_start(1), 4u);
    EXPECT_EQ(file.document_start(2), 6u);
    EXPECT_EQ(file.key(), kKey);
    Ids middle(3);
    file.read(2, middle);
    EXPECT_EQ(middle, (Ids{3, 4, last}));
  }
}

TEST(TokenFile, TakesTwoBytesForAnIdWhereTheyAreEnough) {
  const TemporaryFolder folder;
  const Document document{Ids(1000, 5)};
  const auto bytes = [&](size_t vocabulary) {
    write(folder.path("a"), {document}, vocabulary);
    return std::filesystem::file_size(folder.path("a"));
  };
  EXPECT_EQ(bytes(65535), 2000 + 8 + 4 + 64u);
  EXPECT_EQ(bytes(65536), 4000 + 8 + 4 + 64u);
}

TEST(TokenFile, FindsTheDocumentOfEachToken) {
  const TemporaryFolder folder;
  std::vector<Document> documents;
  Ids expected;
  for (int32_t i = 0; i < 37; ++i) {
    const size_t size = static_cast<size_t>(i * i % 7 + 1);
    documents.push_back({Ids(size, i)});
    expected.insert(expected.end(), size, i);
  }
  write(folder.path("a"), documents, 100);
  const TokenFile file(folder.path("a"), 100);
  for (size_t token = 0; token < expected.size(); ++token)
    EXPECT_EQ(file.document_of(token), static_cast<uint64_t>(expected[token])) << token;
}

TEST(TokenFile, BlocksOfManyMegabytesAreChecked) {
  const TemporaryFolder folder;
  Ids line(100000);
  std::iota(line.begin(), line.end(), 0);
  write(folder.path("a"), std::vector<Document>(13, Document{line, line}), 100001);
  const TokenFile file(folder.path("a"), 100001);
  EXPECT_EQ(file.tokens(), 2600000u);
  Ids some(3);
  file.read(2599997, some);
  EXPECT_EQ(some, (Ids{99997, 99998, 99999}));
}

TEST(TokenFile, EveryChangedByteAndEveryCutIsFound) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a");
  write(path, {{{1, 2, 3}}, {{4, 5}}}, 10);
  const std::string whole = read_file(path, 1 << 20);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x20);
    test::write_text(path, changed);
    EXPECT_ERROR(TokenFile(path, 10), kInput, "damaged token file");
    test::write_text(path, whole.substr(0, i));
    EXPECT_ERROR(TokenFile(path, 10), kInput, "damaged token file");
  }
  test::write_text(path, whole + " ");
  EXPECT_ERROR(TokenFile(path, 10), kInput, "damaged token file");
}

TEST(TokenFile, IdsOutsideTheVocabularyAreRefused) {
  const TemporaryFolder folder;
  EXPECT_ERROR(write(folder.path("a"), {{{1, 10}}}, 10), kTokenId, "expected ids 0..9, got 10");
  EXPECT_ERROR(write(folder.path("a"), {{{-1}}}, 10), kTokenId, "got -1");
  EXPECT_FALSE(std::filesystem::exists(folder.path("a")));
  write(folder.path("a"), {{{1, 9}}}, 10);
  EXPECT_ERROR(TokenFile(folder.path("a"), 9), kInput, "expected ids 0..8, got 9");
}

}  // namespace
}  // namespace deberta::train::token_file_test
