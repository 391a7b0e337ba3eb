// The OpenAPI document of the server, made from the tables of routes, operations, fields and error codes.
#pragma once
#include <string>

#include "base/json.h"

namespace deberta::serve::openapi {

Json document();
const std::string& document_text();  // as the server sends it; made once

}  // namespace deberta::serve::openapi
