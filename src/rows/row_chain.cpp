// Row sources that wrap others: opened late, one after another, or gathered into the documents of a query.
#include "rows/row_chain.h"

#include <optional>
#include <utility>

namespace deberta {
namespace {

class LateRows final : public RowSource {
 public:
  using Open = std::function<std::unique_ptr<RowSource>()>;
  explicit LateRows(Open open) : open_(std::move(open)) {}

  bool next(Row& row) override {
    if (rows_ == nullptr) rows_ = open_();
    return rows_->next(row);
  }
  bool is_ready() const override { return rows_ != nullptr && rows_->is_ready(); }
  std::optional<double> fraction_done() const override {
    return rows_ != nullptr ? rows_->fraction_done() : std::nullopt;
  }

 private:
  Open open_;
  std::unique_ptr<RowSource> rows_;
};

class FileRows final : public RowSource {
 public:
  explicit FileRows(std::vector<std::unique_ptr<RowSource>> files) : files_(std::move(files)) {}

  bool next(Row& row) override {
    for (; at_ < files_.size(); ++at_) {
      if (files_[at_]->next(row)) return true;
    }
    return false;
  }
  bool is_ready() const override { return at_ == files_.size() || files_[at_]->is_ready(); }
  std::optional<double> fraction_done() const override {
    if (at_ == files_.size()) return 1;
    const std::optional<double> part = files_[at_]->fraction_done();
    if (!part) return std::nullopt;
    return (static_cast<double>(at_) + *part) / static_cast<double>(files_.size());
  }

 private:
  std::vector<std::unique_ptr<RowSource>> files_;
  size_t at_ = 0;
};

class QueryRow final : public RowSource {
 public:
  QueryRow(std::string where, std::string query, std::unique_ptr<RowSource> documents)
      : where_(std::move(where)), query_(std::move(query)), documents_(std::move(documents)) {}

  bool next(Row& row) override {
    if (is_done_) return false;
    is_done_ = true;
    row = {};
    row.where = where_;
    row.text = query_;
    for (Row document; documents_->next(document);) {
      if (document.error) throw *document.error;
      row.is_repaired = row.is_repaired || document.is_repaired;
      row.items.push_back(std::move(document.text));
      row.items_kept.push_back(std::move(document.kept));
      if (document.columns) row.columns = document.columns;
    }
    return true;
  }

 private:
  std::string where_, query_;
  std::unique_ptr<RowSource> documents_;
  bool is_done_ = false;
};

}  // namespace

std::unique_ptr<RowSource> late_rows(std::function<std::unique_ptr<RowSource>()> open) {
  return std::make_unique<LateRows>(std::move(open));
}

std::unique_ptr<RowSource> chained_rows(std::vector<std::unique_ptr<RowSource>> files) {
  return std::make_unique<FileRows>(std::move(files));
}

std::unique_ptr<RowSource> query_row(const std::string& where, const std::string& query,
                                     std::unique_ptr<RowSource> documents) {
  return std::make_unique<QueryRow>(where, query, std::move(documents));
}

}  // namespace deberta
