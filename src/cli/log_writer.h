// Lines of a log, written by a thread of its own: adding one never waits, whatever reads the log. Lines that find no
// room are dropped and counted.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace deberta::cli {

class LogWriter {
 public:
  // `path`: a file to add to; empty: standard error. `tell_dropped`: the line that says how many were dropped before
  // it. Throws kFileWrite.
  LogWriter(const std::string& path, std::function<std::string(size_t count)> tell_dropped);
  ~LogWriter();  // writes what waits, unless its reader has stopped
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  void add(const std::string& line);  // without its end
  // Opens the file anew before the next line: it may have been renamed. Where that fails, the old one stays.
  void reopen();
  size_t dropped() const;  // since the start

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace deberta::cli
