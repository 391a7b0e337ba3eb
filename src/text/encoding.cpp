// A special token gets an empty offset and no word.
#include "text/encoding.h"

namespace deberta {

void append_special(int32_t id, int32_t type_id, Encoding& out) {
  out.ids.push_back(id);
  out.type_ids.push_back(type_id);
  out.bytes.push_back({});
  out.chars.push_back({});
  out.words.push_back(-1);
  out.is_special.push_back(1);
}

}  // namespace deberta
