// Temporary files and folders: TARGET.tmp-PID-RANDOM beside their target, each locked by the process that fills it. The
// system releases the lock when that process ends, however it does: an unlocked temporary has no owner. Its number is
// for people; processes of other hosts and containers have the same ones. Internal to this room and to rooms that name
// what killed runs left.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace deberta {

constexpr std::string_view kTemporaryMark = ".tmp-";

// A new name for a temporary of `target`.
std::string temporary_name(const std::string& target);
// Whether temporary_name() of `target` may be `name`; both without folders.
bool is_temporary_of(std::string_view name, std::string_view target);

// Creates a temporary of `target` by `make` (a descriptor, or -1 with errno), and locks it. `path` is its name. Returns
// -1 with errno if that fails. Where the file system has no locks it is created without one.
int make_temporary(const std::string& target, std::string& path, const std::function<int(const std::string&)>& make);

// Locks what is open; false when another process has, or where there are no locks.
bool try_lock(int fd);
// Whether `path` leads to what is open. Between an open() and a lock another process may have removed or renamed it.
bool leads_to(const std::string& path, int fd);

}  // namespace deberta
