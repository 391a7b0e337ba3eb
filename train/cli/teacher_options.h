// From the options of distillation to its settings.
#pragma once
#include <string>

#include "deberta/error.h"
#include "options/verb_options.h"
#include "program/model_options.h"

namespace deberta::train {

// Empty: there is no teacher. Throws kUsage for options about one that is not there.
inline std::string teacher_folder(const TeacherSettings& requested) {
  if (!requested.folder.empty()) return program::model_path(requested.folder);
  for (const Setting<double>* setting : {&requested.weight, &requested.temperature}) {
    if (!setting->is_free())
      throw Error(ErrorCode::kUsage, "--" + std::string(setting->row->name), "expected --teacher as well");
  }
  return "";
}

}  // namespace deberta::train
