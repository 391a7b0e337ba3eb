// The cache of tokens: built once, reused only for the same texts, tokenizer and options, rebuilt when damaged, never
// left half-written, and in memory that does not grow.
#include "train/data/token_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/thread_pool.h"
#include "support/compressed.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/sanitizers.h"
#include "support/warnings.h"

namespace deberta::train::token_cache_test {
namespace {

using test::TemporaryFolder;
using test::write_text;

// A corpus of two files, a tokenizer, and a folder for caches.
struct Case {
  Case() {
    std::filesystem::create_directory(folder.path("model"));
    use_tokenizer("bytes.model");
    write_text(folder.path("a.txt"),
               "<|doc A|>\nThe first line.\nSection::::The second.\n<|doc B|>\nA third one, [MASK].\n");
    write_text(folder.path("b.txt.xz"), test::compressed("Another file.\n", Compression::kXz));
    corpus.files = {folder.path("a.txt"), folder.path("b.txt.xz")};
    corpus.options.drops_markers = true;
    corpus.cache_folder = folder.path("cache");
  }

  void use_tokenizer(const std::string& name) {
    std::filesystem::copy_file(test::fixture("tokenizer/" + name), folder.path("model/spm.model"),
                               std::filesystem::copy_options::overwrite_existing);
    tokenizer.emplace(Tokenizer::load(folder.path("model")));
    corpus.tokenizer_hash = hash_of_tokenizer(folder.path("model"), *tokenizer);
  }

  TokenFile open(size_t threads = 1, const CacheHooks& hooks = {}) {
    ThreadPool pool(threads);
    std::optional<TokenFile> file = open_token_cache(corpus, *tokenizer, pool.parallel(), hooks);
    if (!file) throw std::runtime_error("stopped");
    return std::move(*file);
  }

  std::vector<std::string> cached() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(corpus.cache_folder))
      names.push_back(entry.path().filename());
    return names;
  }

  TemporaryFolder folder;
  CachedCorpus corpus;
  std::optional<Tokenizer> tokenizer;
};

std::vector<int32_t> all_of(const TokenFile& file) {
  std::vector<int32_t> ids(file.tokens());
  file.read(0, ids);
  return ids;
}

TEST(TokenCache, HoldsTheTokensOfEachLineOneAfterTheOther) {
  Case c;
  const TokenFile file = c.open();
  std::vector<int32_t> expected;
  const EncodeOptions plain{.add_special_tokens = false, .parse_special = false};
  for (const char* line : {"The first line.", "The second.", "A third one, [MASK].", "Another file."}) {
    const auto ids = c.tokenizer->encode(line, plain).ids;
    expected.insert(expected.end(), ids.begin(), ids.end());
  }
  EXPECT_EQ(all_of(file), expected);
  EXPECT_EQ(file.documents(), 3u);
}

TEST(TokenCache, HasAddedTokensAndLineBreaksWhereTheTokenizerHasThem) {
  Case c;
  c.open();
  const std::vector<std::string> added = {"\n", "third one"};
  c.tokenizer.emplace(Tokenizer::load(c.folder.path("model"), TokenizerKind::kSlow, added));
  c.corpus.tokenizer_hash = hash_of_tokenizer(c.folder.path("model"), *c.tokenizer);
  const TokenFile file = c.open();
  std::vector<int32_t> expected;
  const EncodeOptions plain{.add_special_tokens = false, .parse_special = false};
  const int32_t line_break = *c.tokenizer->id_of("\n"), third = *c.tokenizer->id_of("third one");
  const auto add = [&](const char* text) {
    const auto ids = c.tokenizer->encode(text, plain).ids;
    expected.insert(expected.end(), ids.begin(), ids.end());
  };
  for (const char* line : {"The first line.", "The second."}) {
    add(line);
    expected.push_back(line_break);
  }
  add("A");
  expected.push_back(third);
  add(", [MASK].");
  expected.push_back(line_break);
  add("Another file.");
  expected.push_back(line_break);
  EXPECT_EQ(all_of(file), expected);
  EXPECT_EQ(c.cached().size(), 2u);
}

TEST(TokenCache, DoesNotDependOnThreads) {
  Case c;
  std::string text;
  for (int i = 0; i < 60000; ++i) text += "line " + std::to_string(i * 7919 % 1000) + " of a longer text\n";
  write_text(c.folder.path("a.txt"), text);
  c.corpus.files = {c.folder.path("a.txt")};
  const std::string alone = read_file(c.open(1).path(), 1 << 26);
  c.corpus.cache_folder = c.folder.path("other");
  EXPECT_EQ(read_file(c.open(4).path(), 1 << 26), alone);
}

TEST(TokenCache, IsBuiltOnce) {
  Case c;
  int tokenised = 0;
  const CacheHooks hooks{.on_progress = [&](const CacheProgress& progress) { tokenised += progress.is_tokenizing; }};
  const auto ids = all_of(c.open(1, hooks));
  EXPECT_EQ(tokenised, 1);
  EXPECT_EQ(all_of(c.open(1, hooks)), ids);
  EXPECT_EQ(tokenised, 1) << "the second time it is read";
  EXPECT_EQ(c.cached().size(), 1u);
}

TEST(TokenCache, IsBuiltAgainWhenAnythingThatItDependsOnChanges) {
  const auto differs_after = [](const std::function<void(Case&)>& change) {
    Case c;
    c.open();
    change(c);
    c.open();
    return c.cached().size() == 2;
  };
  EXPECT_FALSE(differs_after([](Case&) {}));
  EXPECT_TRUE(differs_after([](Case& c) { c.use_tokenizer("unknown.model"); })) << "the tokenizer";
  EXPECT_TRUE(differs_after([](Case& c) {
    write_text(c.folder.path("model/added_tokens.json"), R"({"[MASK]": 5000})");
    c.corpus.tokenizer_hash = hash_of_tokenizer(c.folder.path("model"), *c.tokenizer);
  })) << "a file beside it";
  EXPECT_TRUE(differs_after([](Case& c) { write_text(c.corpus.files[0], "The First line.\n"); })) << "a text";
  EXPECT_TRUE(differs_after([](Case& c) { c.corpus.files.pop_back(); })) << "the files";
  EXPECT_TRUE(differs_after([](Case& c) { std::swap(c.corpus.files[0], c.corpus.files[1]); })) << "their order";
  EXPECT_TRUE(differs_after([](Case& c) { c.corpus.options.drops_markers = false; })) << "an option";
  EXPECT_TRUE(differs_after([](Case& c) {
    c.corpus.options.holds_out_every = 3;
    c.corpus.options.documents = Documents::kTraining;
  })) << "what is held out";
}

TEST(TokenCache, CachesOfOtherSharesOfTheSameFilesStandBesideEachOther) {
  Case c;
  c.corpus.options = {.drops_markers = true, .holds_out_every = 2, .documents = Documents::kTraining};
  const auto half = all_of(c.open());
  c.corpus.options.holds_out_every = 3;
  EXPECT_NE(all_of(c.open()), half);
  EXPECT_EQ(c.cached().size(), 2u);
}

TEST(TokenCache, HeldOutDocumentsAreNotInTheTrainingCache) {
  Case c;
  c.corpus.options = {.drops_markers = true, .holds_out_every = 2, .documents = Documents::kTraining};
  const auto training = all_of(c.open());
  c.corpus.options.documents = Documents::kHeldOut;
  const auto held_out = all_of(c.open());
  EXPECT_EQ(held_out,
            c.tokenizer->encode("A third one, [MASK].", {.add_special_tokens = false, .parse_special = false}).ids);
  c.corpus.options.documents = Documents::kAll;
  EXPECT_EQ(all_of(c.open()).size(), training.size() + held_out.size());
}

TEST(TokenCache, ADamagedOrForeignFileIsBuiltAgainAndSaid) {
  Case c;
  std::string path;
  std::string whole;
  {
    const TokenFile file = c.open();
    path = file.path();
    whole = read_file(path, 1 << 20);
  }
  std::string damaged = whole;
  damaged[3] = static_cast<char>(damaged[3] ^ 1);
  write_text(path, damaged);
  {
    const test::Warnings warnings;
    c.open();
    EXPECT_NE(warnings.text.find("damaged token file"), std::string::npos) << warnings.text;
    EXPECT_NE(warnings.text.find("the cache is built again"), std::string::npos);
  }
  EXPECT_EQ(read_file(path, 1 << 20), whole);
  write_text(c.corpus.files[0], "Another text.\n");
  const std::string other = c.open().path();
  std::filesystem::copy_file(path, other, std::filesystem::copy_options::overwrite_existing);
  const test::Warnings warnings;
  EXPECT_NE(read_file(c.open().path(), 1 << 20), whole);
  EXPECT_NE(warnings.text.find("made from other texts"), std::string::npos) << warnings.text;
}

TEST(TokenCache, AnEmptyOrDamagedCorpusLeavesNothing) {
  Case c;
  write_text(c.corpus.files[0], "\n \n<|doc A|>\n");
  c.corpus.files.pop_back();
  EXPECT_ERROR(c.open(), kInput, "the corpus is empty");
  EXPECT_TRUE(c.cached().empty());
  c.corpus.files = {c.folder.path("b.txt.xz")};
  const std::string whole = read_file(c.corpus.files[0], 1 << 20);
  write_text(c.corpus.files[0], whole.substr(0, whole.size() - 5));
  EXPECT_ERROR(c.open(), kFileRead, "b.txt.xz");
  EXPECT_TRUE(c.cached().empty());
  c.corpus.files.clear();
  EXPECT_ERROR(c.open(), kInput, "the corpus is empty");
}

TEST(TokenCache, InvalidUtf8IsCounted) {
  Case c;
  write_text(c.corpus.files[0], "good\nb\xFF\nx\xC0\n");
  const test::Warnings warnings;
  c.open();
  EXPECT_NE(warnings.text.find("2 lines were not valid UTF-8"), std::string::npos) << warnings.text;
}

TEST(TokenCache, StopsWhereverItIsAndLeavesNothing) {
  Case c;
  for (int polls = 0;; ++polls) {
    int left = polls;
    const CacheHooks hooks{.is_stopped = [&] { return left-- <= 0; }};
    const auto file = open_token_cache(c.corpus, *c.tokenizer, serial(), hooks);
    if (file) break;
    ASSERT_LT(polls, 1000);
    if (std::filesystem::exists(c.corpus.cache_folder)) {
      for (const std::string& name : c.cached()) EXPECT_EQ(name.find(".tmp-"), std::string::npos) << polls;
    }
  }
}

TEST(TokenCache, TheSecondBuilderWaitsForTheFirst) {
  Case c;
  std::filesystem::create_directory(c.corpus.cache_folder);
  const int fd = ::open(c.corpus.cache_folder.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  int polls = 0;
  const CacheHooks stops{.is_stopped = [&] { return ++polls > 20; }};
  EXPECT_FALSE(open_token_cache(c.corpus, *c.tokenizer, serial(), stops)) << "stopped while waiting";
  EXPECT_TRUE(c.cached().empty());
  std::thread releases([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    ::close(fd);
  });
  EXPECT_GT(c.open().tokens(), 0u);
  releases.join();
}

TEST(TokenCache, AFullDiskIsAnErrorAndLeavesNothing) {
  Case c;
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "some words for a file that becomes too large\n";
  write_text(c.corpus.files[0], text);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100000, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_ERROR(c.open(), kFileWrite, "tokens-");
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(c.cached().empty());
  EXPECT_ERROR((c.corpus.cache_folder = "/nowhere/at/all", c.open()), kFileWrite, "/nowhere/at/all");
}

size_t anonymous_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::stoul(line.substr(8));
  }
  return 0;
}

// The most anonymous memory while a corpus is tokenised, in a process of its own.
size_t peak_kib(const std::string& text_file, size_t copies) {
  int ends[2];
  if (::pipe(ends) != 0) return 0;
  const pid_t child = ::fork();
  if (child == 0) {
    Case c;
    c.corpus.files.assign(copies, text_file);
    size_t peak = 0;
    open_token_cache(c.corpus, *c.tokenizer, serial(),
                     {.on_progress = [&](const CacheProgress&) { peak = std::max(peak, anonymous_kib()); }});
    const ssize_t written = ::write(ends[1], &peak, sizeof(peak));
    std::filesystem::remove_all(c.folder.path());
    ::_exit(written == sizeof(peak) ? 0 : 1);
  }
  ::close(ends[1]);
  size_t peak = 0;
  if (::read(ends[0], &peak, sizeof(peak)) != sizeof(peak)) peak = 0;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return peak;
}

TEST(TokenCache, MemoryDoesNotGrowWithTheCorpus) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer keeps freed memory";
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 60000; ++i)
    text += "<|doc X|>\nwords of document " + std::to_string(i) + " and some more of them\n";
  write_text(folder.path("a.txt"), text);
  const size_t small = peak_kib(folder.path("a.txt"), 1);
  const size_t large = peak_kib(folder.path("a.txt"), 10);
  ASSERT_GT(small, 0u);
  EXPECT_LT(large, small + 10 * 1024) << small << " KiB for the corpus, " << large << " KiB for ten times as much";
}

}  // namespace
}  // namespace deberta::train::token_cache_test
