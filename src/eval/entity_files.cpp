// Rows of all files first, then entities from tags, then other names for labels.
#include "eval/entity_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "config/tags.h"
#include "data/conll.h"
#include "data/records.h"
#include "metrics/tag_evaluation.h"

namespace deberta {
namespace {

// A file whose name says nothing of rows has columns.
RowForm form_of(const EntityFiles& files, const std::string& path) {
  const RowForm form = files.format ? *files.format : form_of_ending(path).value_or(RowForm::kConll);
  if (form == RowForm::kJson || form == RowForm::kJsonl || form == RowForm::kConll) return form;
  if (!files.format && form != RowForm::kCsv) return RowForm::kConll;
  throw Error(ErrorCode::kUsage,
              {{.where = path,
                .message = fmt::format("expected rows in jsonl, or columns of words and tags, got {}", to_string(form)),
                .argument = "input_format"}});
}

EntityRow row_of(const ConllSentence& sentence) {
  EntityRow row{.where = sentence.where, .error = sentence.error};
  for (size_t token = 0; token < sentence.tokens(); ++token) {
    row.words.push_back(sentence.word(token));
    row.tags.push_back(sentence.label(token));
  }
  row.text = join_words(row.words);
  return row;
}

EntityRow row_of(const JsonRow& json) {
  if (json.error) return {.where = json.where, .error = json.error};
  try {
    return read_entity_row(json.value, json.where);
  } catch (const Error& error) {
    return {.where = json.where, .error = error};
  }
}

std::set<std::string> labels_in(const EntityRow& row) {
  std::set<std::string> labels;
  for (const LabelledSpan& entity : row.entities) labels.insert(entity.label);
  if (row.labels) labels.insert(row.labels->begin(), row.labels->end());
  return labels;
}

class Reading {
 public:
  Reading(const EntityFiles& files, const std::function<bool()>& is_stopped,
          const std::function<void(size_t rows)>& on_row)
      : files_(files), is_stopped_(is_stopped), on_row_(on_row), picker_(files.part) {}

  void read(const std::string& path) {
    LineReader lines{ByteSource(path, is_stopped_)};
    const RowForm form = form_of(files_, path);
    repaired_ = 0;
    if (form == RowForm::kConll) {
      ConllReader reader(std::move(lines));
      for (ConllSentence sentence; !is_done() && reader.next(sentence);)
        add(row_of(sentence), reader.lines().repaired());
      return;
    }
    RecordReader reader(std::move(lines), form, {});
    for (JsonRow row; !is_done() && reader.next(row);) add(row_of(row), reader.lines().repaired());
  }

  EntityRows take() {
    result_.left_out = picker_.left_out();
    return std::move(result_);
  }

  const EntityRow& others() const { return others_; }
  // Some rows were not read.
  bool is_done() const {
    return picker_.is_done() || is_stopped_() ||
           (files_.most_rows > 0 && result_.rows.size() + picker_.left_out() >= files_.most_rows);
  }

 private:
  // `repaired`: lines of the file so far that had to be.
  void add(EntityRow row, size_t repaired) {
    const bool is_repaired = std::exchange(repaired_, repaired) < repaired;
    if (picker_.takes()) {
      result_.repaired += is_repaired;
      result_.rows.push_back(std::move(row));
      return on_row_(result_.rows.size());
    }
    std::ranges::move(row.tags, std::back_inserter(others_.tags));
    std::ranges::move(row.entities, std::back_inserter(others_.entities));
    if (row.labels) others_.labels->insert(others_.labels->end(), row.labels->begin(), row.labels->end());
  }

  const EntityFiles& files_;
  const std::function<bool()>& is_stopped_;
  const std::function<void(size_t rows)>& on_row_;
  PartPicker picker_;
  EntityRows result_;
  size_t repaired_ = 0;
  EntityRow others_{.where = {}, .labels = std::vector<std::string>()};  // the labels and tags of rows left out
};

// By the tags of all rows together, also of those that are left out. Returns every label.
std::set<std::string> find_tagged(std::vector<EntityRow>& rows, const EntityRow& others) {
  std::set<std::string> tags(others.tags.begin(), others.tags.end()), labels = labels_in(others);
  for (const EntityRow& row : rows) tags.insert(row.tags.begin(), row.tags.end());
  const TagSet set({tags.begin(), tags.end()});
  for (const std::string& tag : tags) {
    if (set.of(tag).place != TagPlace::kOutside) labels.insert(set.of(tag).kind);
  }
  for (EntityRow& row : rows) {
    labels.merge(labels_in(row));
    std::vector<size_t> begins;
    for (size_t begin = 0, word = 0; word < row.words.size(); begin += row.words[word++].size() + 1)
      begins.push_back(begin);
    for (const TaggedEntity& entity : tagged_entities(row.tags, set))
      row.entities.push_back({begins[entity.first], begins[entity.last] + row.words[entity.last].size(), entity.type});
    order_entities(row.entities);
  }
  return labels;
}

void rename(const LabelRenames& names, std::string& label) {
  const auto name = std::ranges::find(names, label, &LabelRenames::value_type::first);
  if (name != names.end()) label = name->second;
}

void rename_labels(const LabelRenames& names, std::vector<EntityRow>& rows) {
  for (EntityRow& row : rows) {
    for (LabelledSpan& entity : row.entities) rename(names, entity.label);
    if (row.labels) {
      for (std::string& label : *row.labels) rename(names, label);
    }
    order_entities(row.entities);
  }
}

void check_names(const LabelRenames& names, const std::set<std::string>& labels) {
  for (const auto& [label, name] : names) {
    if (labels.contains(label)) continue;
    throw Error(ErrorCode::kUsage,
                {{.message = fmt::format("expected labels of the files ({}), got {}", fmt::join(labels, ", "), label),
                  .argument = "label_names"}});
  }
}

}  // namespace

std::vector<std::string> EntityRows::labels() const {
  std::set<std::string> labels;
  for (const EntityRow& row : rows) labels.merge(labels_in(row));
  return {labels.begin(), labels.end()};
}

EntityRows read_entity_files(const EntityFiles& files, const std::function<bool()>& is_stopped,
                             const std::function<void(size_t rows)>& on_row) {
  Reading reading(files, is_stopped, on_row);
  for (const std::string& path : files.files) reading.read(path);
  EntityRows read = reading.take();
  const std::set<std::string> labels = find_tagged(read.rows, reading.others());
  if (files.needs_names && !reading.is_done()) check_names(files.label_names, labels);
  rename_labels(files.label_names, read.rows);
  return read;
}

}  // namespace deberta
