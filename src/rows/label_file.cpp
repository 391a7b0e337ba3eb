// Labels from lines or from JSON.
#include "rows/label_file.h"

#include "base/ascii.h"
#include "data/lines.h"
#include "pipeline/entity_labels.h"

namespace deberta {
namespace {

EntityLabel label_of_line(std::string_view line) {
  const size_t tab = line.find('\t');
  if (tab == line.npos) return entity_label(std::string(strip(line)));
  return entity_label(std::string(strip(line.substr(0, tab))), strip(line.substr(tab + 1)));
}

}  // namespace

std::vector<EntityLabel> load_entity_labels(const std::string& path) {
  if (path.ends_with(".json")) return read_entity_labels(load_json(path), path);
  std::vector<EntityLabel> labels;
  LineReader lines{ByteSource(path)};
  for (TextLine line; read_text_line(lines, line);) {
    if (line.error) throw *line.error;
    if (!strip(line.text).empty()) labels.push_back(label_of_line(line.text));
  }
  return labels;
}

}  // namespace deberta
