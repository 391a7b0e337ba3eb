// All of the library, but for deberta/server.h: the server is in deberta::serve alone.
#pragma once
#include "deberta/analysis.h"    // IWYU pragma: export
#include "deberta/answer.h"      // IWYU pragma: export
#include "deberta/checkpoint.h"  // IWYU pragma: export
#include "deberta/config.h"      // IWYU pragma: export
#include "deberta/error.h"       // IWYU pragma: export
#include "deberta/find_model.h"  // IWYU pragma: export
#include "deberta/head.h"        // IWYU pragma: export
#include "deberta/library.h"     // IWYU pragma: export
#include "deberta/model.h"       // IWYU pragma: export
#include "deberta/pipeline.h"    // IWYU pragma: export
#include "deberta/precision.h"   // IWYU pragma: export
#include "deberta/tokenizer.h"   // IWYU pragma: export
