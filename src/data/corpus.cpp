// Finds the files of a corpus, tells documents apart by file or marker, and keeps or skips those that are held out.
#include "data/corpus.h"

#include <fmt/format.h>

#include <utility>

#include "base/file.h"
#include "base/folder.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr std::string_view kDocumentBegin = "<|doc ";
constexpr std::string_view kDocumentEnd = "|>";
constexpr std::string_view kSection = "Section::::";

bool is_text_name(const std::string& name) {
  return without_compression_ending(name).ends_with(".txt");
}

[[noreturn]] void refuse(const std::string& path, std::string message) {
  throw Error(ErrorCode::kFileNotFound, path, std::move(message));
}

std::vector<std::string> files_in(const std::string& folder) {
  const auto names = read_names(folder);
  if (!names) refuse(folder, "cannot list the folder");
  std::vector<std::string> files;
  for (const std::string& name : *names) {
    std::string path = folder + "/" + name;
    if (is_text_name(name) && is_regular_file(path)) files.push_back(std::move(path));
  }
  if (files.empty()) refuse(folder, "expected text files (names that end in .txt, .txt.xz, .txt.gz), got none");
  return files;
}

bool is_document_marker(std::string_view text) {
  return text.starts_with(kDocumentBegin) && text.ends_with(kDocumentEnd);
}

}  // namespace

std::vector<std::string> find_corpus_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (is_regular_file(path)) {
      files.push_back(path);
      continue;
    }
    const std::vector<std::string> path_files = is_directory(path) ? files_in(path) : files_of_pattern(path);
    if (path_files.empty()) refuse(path, "no such file");
    files.insert(files.end(), path_files.begin(), path_files.end());
  }
  return files;
}

CorpusReader::CorpusReader(std::vector<std::string> files, CorpusOptions options, std::function<bool()> is_stopped)
    : files_(std::move(files)), options_(options), is_stopped_(std::move(is_stopped)) {
  const uint64_t every = options_.holds_out_every;
  const bool is_right =
      options_.documents == Documents::kAll || every > 1 || (every == 0 && options_.documents == Documents::kTraining);
  if (!is_right) {
    throw Error(ErrorCode::kUsage,
                {{.message = fmt::format("expected 0 (none is held out) or at least 2, got {}", every),
                  .argument = "holds_out_every"}});
  }
}

// The next line of any file; notes where a file begins.
bool CorpusReader::next_text(TextLine& line) {
  for (;;) {
    if (is_stopped_ && is_stopped_()) return false;
    if (lines_ && read_text_line(*lines_, line)) {
      if (line.error) throw *line.error;
      return true;
    }
    if (lines_) {
      finished_bytes_ += lines_->source().read_bytes();
      repaired_ += lines_->repaired();
      lines_.reset();
    }
    if (next_file_ == files_.size()) return false;
    lines_.emplace(ByteSource(files_[next_file_++], is_stopped_));
    is_at_begin_ = true;
  }
}

bool CorpusReader::is_read() const {
  const uint64_t every = options_.holds_out_every;
  if (options_.documents == Documents::kAll || every == 0) return true;
  const bool is_held = (documents_ - 1) % every == every - 1;
  return is_held == (options_.documents == Documents::kHeldOut);
}

bool CorpusReader::next(Line& line) {
  TextLine text;
  while (next_text(text)) {
    std::string_view content = text.text;
    if (options_.drops_markers && is_document_marker(content)) {
      is_at_begin_ = true;
      continue;
    }
    if (options_.drops_markers && content.starts_with(kSection)) content.remove_prefix(kSection.size());
    if (content.find_first_not_of(" \t\r\v\f") == std::string_view::npos) continue;
    const bool begins = std::exchange(is_at_begin_, false);
    if (begins) ++documents_;
    if (!is_read()) continue;
    line.text.assign(content);
    line.begins_document = begins;
    return true;
  }
  return false;
}

}  // namespace deberta
