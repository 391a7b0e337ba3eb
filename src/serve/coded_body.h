// Bodies with a Content-Encoding: the codings that a request may have, and the bytes that a coded body stands for, in
// bounded memory and in time that grows as the body and these bytes do.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "data/decompressor.h"
#include "serve/http.h"

namespace deberta::serve {

// Throws kMediaType for a coding other than gzip, zstd and identity, and for several.
Compression coding_of(const HttpRequest& head);

// Throws kTooLarge for more than `most` bytes, and for a zstd window of more than 8 MiB (RFC 9659); kBadRequest for
// bytes that are not that coding, end before its end, or go on behind it. `hold` is called with the bytes of memory
// that are in use from then on, before they are taken; what it throws goes to the caller.
std::string decoded_body(Compression coding, std::string_view coded, size_t most,
                         const std::function<void(size_t bytes)>& hold);

}  // namespace deberta::serve
