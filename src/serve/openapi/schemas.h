// The schemas of bodies and answers, by family, in the order of the document. Fields of a request beside its texts are
// rows of fields.h.
#pragma once
#include "base/json.h"

namespace deberta::serve::openapi {

JsonObject error_schemas();
JsonObject embeddings_inference_schemas();  // and Cohere's: its /rerank is the same route
JsonObject openai_schemas();
JsonObject vllm_schemas();  // and infinity's: its /classify is the same route
JsonObject hub_schemas();
JsonObject kserve_schemas();
JsonObject gliner_schemas();
JsonObject explorer_schemas();
JsonObject server_schemas();  // /info, /health and the like
JsonObject admin_schemas();
JsonObject page_schemas();

}  // namespace deberta::serve::openapi
