// Reads each corpus with the trainer's own rule for held-out documents, so that both see the same lines.
#include "eval/held_out_rows.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "data/corpus.h"

namespace deberta {
namespace {

uint64_t size_of_files(const std::vector<std::string>& files) {
  uint64_t size_bytes = 0;
  for (const std::string& file : files) {
    std::error_code unknown;
    const uint64_t size = std::filesystem::file_size(file, unknown);
    if (!unknown) size_bytes += size;
  }
  return size_bytes;
}

class HeldOutRows final : public RowSource {
 public:
  HeldOutRows(const HeldOutLines& lines, std::function<bool()> is_stopped)
      : lines_(lines), is_stopped_(std::move(is_stopped)) {
    for (const std::string& corpus : lines.corpora) {
      files_.push_back(find_corpus_files({corpus}));
      total_bytes_ += size_of_files(files_.back());
    }
    open_next();
  }

  bool next(Row& row) override {
    CorpusReader::Line line;
    while (reader_) {
      const uint64_t repaired = reader_->repaired_lines();
      if ((lines_.most_lines == 0 || read_lines_ < lines_.most_lines) && reader_->next(line)) {
        row = {};
        row.where = lines_.corpora[corpus_ - 1] + ": held-out line " + std::to_string(++read_lines_);
        row.is_repaired = reader_->repaired_lines() > repaired;
        row.text = std::move(line.text);
        return true;
      }
      finished_bytes_ += size_of_files(files_[corpus_ - 1]);
      open_next();
    }
    return false;
  }

  std::optional<double> fraction_done() const override {
    if (total_bytes_ == 0) return std::nullopt;
    const uint64_t done = finished_bytes_ + (reader_ ? reader_->stored_bytes() : 0);
    return std::min(1.0, static_cast<double>(done) / static_cast<double>(total_bytes_));
  }

 private:
  void open_next() {
    reader_.reset();
    read_lines_ = 0;
    if (corpus_ == files_.size()) return;
    const CorpusOptions options{
        .drops_markers = true, .holds_out_every = lines_.every, .documents = Documents::kHeldOut};
    reader_.emplace(files_[corpus_++], options, is_stopped_);
  }

  const HeldOutLines& lines_;
  std::function<bool()> is_stopped_;
  std::vector<std::vector<std::string>> files_;  // by corpus
  std::optional<CorpusReader> reader_;
  size_t corpus_ = 0;  // opened so far
  size_t read_lines_ = 0;
  uint64_t finished_bytes_ = 0;
  uint64_t total_bytes_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> held_out_rows(const HeldOutLines& lines, std::function<bool()> is_stopped) {
  return std::make_unique<HeldOutRows>(lines, std::move(is_stopped));
}

}  // namespace deberta
