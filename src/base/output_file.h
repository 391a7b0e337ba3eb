// Output files named by the user. A regular or new file is replaced as a whole or not at all; anything else (a device,
// a pipe, a descriptor of this process such as /dev/stdout or that of >(...)) is written to directly.
#pragma once
#include <functional>
#include <string>

#include "base/file.h"

namespace deberta {

// Throws kFileWrite for a target that cannot be written to: a folder, a socket, one without permission, one in a folder
// that does not exist. Changes nothing.
void check_output_file(const std::string& path);

// Whether the file appears only when it is complete. Throws kFileWrite.
bool is_replaced_whole(const std::string& path);

// Links are followed. A file that is replaced keeps its mode and, as far as this process may, its owner: temporary file
// beside it, write, fsync, rename, fsync of the folder; when anything fails the temporary file is removed and the old
// file is untouched. Direct writes are visible at once, part by part. Throws kFileWrite.
void write_output_file(const std::string& path, const std::function<void(FileWriter&)>& fill);

}  // namespace deberta
