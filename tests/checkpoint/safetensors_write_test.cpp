// What is written is read back; whatever interrupts a write, the file is the old one or the new one.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/output_file.h"
#include "checkpoint/safetensors.h"
#include "support/bad_safetensors.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::safetensors_write_test {
namespace {

using test::TemporaryFolder;
using test::write_text;

const std::string kBytes(4096, '\x07');

TensorView tensor(const std::string& name, DType dtype, const Shape& shape, size_t offset = 0) {
  const size_t size_bytes = size_bytes_of(dtype, shape).value();
  return {name, dtype, shape, to_bytes(std::string_view(kBytes).substr(offset, size_bytes))};
}

size_t files_in(const std::string& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(SafetensorsWriter, WritesWhatTheReaderGives) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.safetensors");
  const std::vector<TensorView> tensors = {tensor("z", DType::kF16, {3}), tensor("a", DType::kF32, {2, 3}),
                                           tensor("none", DType::kI64, {0}), tensor("scalar", DType::kF64, {}),
                                           tensor("\xC3\xA9 \"quoted\"", DType::kBool, {1})};
  write_safetensors(path, tensors, {{"format", "pt"}, {"note", "two\nlines"}});
  const SafetensorsFile file(path);
  EXPECT_EQ(file.metadata(), (Metadata{{"format", "pt"}, {"note", "two\nlines"}}));
  ASSERT_EQ(file.tensors().size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(file.tensors()[i].name, tensors[i].name);  // the order given is the order of the bytes
    EXPECT_EQ(file.tensors()[i].dtype, tensors[i].dtype);
    EXPECT_EQ(file.tensors()[i].shape, tensors[i].shape);
    EXPECT_EQ(to_text(file.tensors()[i].bytes), to_text(tensors[i].bytes));
  }
}

TEST(SafetensorsWriter, PadsTheHeaderWithSpacesToEightBytes) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.safetensors");
  for (size_t length = 1; length <= 16; ++length) {
    write_safetensors(path, {tensor(std::string(length, 'n'), DType::kF32, {1})});
    const std::string text = read_file(path, 4096);
    const uint64_t header_bytes = static_cast<unsigned char>(text[0]);
    EXPECT_EQ(header_bytes % 8, 0u);
    EXPECT_EQ(text.size(), 8 + header_bytes + 4);
    const std::string header = text.substr(8, header_bytes);
    EXPECT_EQ(header.substr(header.find_last_of('}') + 1).find_first_not_of(' '), std::string::npos);
    EXPECT_LT(header_bytes - header.find_last_of('}'), 9u);
  }
}

TEST(SafetensorsWriter, WritesTheSameBytesEachTime) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"})
    write_safetensors(folder.path(name), {tensor("x", DType::kF32, {4}), tensor("y", DType::kU8, {3})}, {{"k", "v"}});
  EXPECT_EQ(read_file(folder.path("a"), 4096), read_file(folder.path("b"), 4096));
}

TEST(SafetensorsWriter, RefusesWhatTheReaderWouldRefuse) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.safetensors");
  const auto write = [&](const std::vector<TensorView>& tensors, const Metadata& metadata = {}) {
    write_safetensors(path, tensors, metadata);
  };
  TensorView short_one = tensor("a", DType::kF32, {2});
  short_one.shape = {3};
  TensorView negative = tensor("a", DType::kF32, {0});
  negative.shape = {-1};
  EXPECT_ERROR(write({tensor("a", DType::kF32, {1}), tensor("a", DType::kF32, {1})}), kSafetensors, "got it twice");
  EXPECT_ERROR(write({short_one}), kSafetensors, "expected the bytes of F32 [3], got 8 bytes");
  EXPECT_ERROR(write({negative}), kSafetensors, "less than 2^48 bytes, got [-1]");
  EXPECT_ERROR(write({tensor("a", DType::kU8, {1, 1, 1, 1, 1, 1, 1, 1, 1})}), kSafetensors, "at most 8 dimensions");
  EXPECT_ERROR(write({tensor("", DType::kU8, {1})}), kSafetensors, "1 to 1024 bytes");
  EXPECT_ERROR(write({tensor(std::string(1025, 'n'), DType::kU8, {1})}), kSafetensors, "1 to 1024 bytes");
  EXPECT_ERROR(write({tensor("a\nb", DType::kU8, {1})}), kSafetensors, "control characters");
  EXPECT_ERROR(write({tensor("\xFF", DType::kU8, {1})}), kSafetensors, "UTF-8");
  EXPECT_ERROR(write({tensor("__metadata__", DType::kU8, {1})}), kSafetensors, "reserved by the format");
  EXPECT_ERROR(write({}, {{"k", "1"}, {"k", "2"}}), kSafetensors, "\"k\" twice");
  EXPECT_ERROR(write({}, {{"k", "\xFF"}}), kSafetensors, "UTF-8");
  EXPECT_ERROR(write({}, {{"k", std::string((1 << 20) + 1, 'v')}}), kSafetensors, "at most 1048576 bytes");
  EXPECT_EQ(files_in(folder.path()), 0u);
}

// The callback must write exactly each tensor's bytes: one too many would shift all that follow.
TEST(SafetensorsWriter, CountsTheBytesOfTensorsThatAreMadeWhileTheyAreWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.safetensors");
  const auto write = [&](size_t count) {
    const TensorToWrite tensor{"a", DType::kU8, {3}, [count](FileWriter& file) {
                                 for (size_t i = 0; i < count; ++i) file.write(std::string_view("x"));
                               }};
    write_output_file(path, [&](FileWriter& file) { write_safetensors(file, path, {tensor}, {}); });
  };
  EXPECT_ERROR(write(2), kSafetensors, "tensor \"a\": expected the bytes of U8 [3], got 2 bytes");
  EXPECT_ERROR(write(4), kSafetensors, "got 4 bytes");
  EXPECT_EQ(files_in(folder.path()), 0u);
  write(3);
  EXPECT_EQ(to_text(SafetensorsFile(path).tensors()[0].bytes), "xxx");
}

// The old file is mapped while its path is written: writing in place would turn the mapped values into zeros.
TEST(SafetensorsWriter, SavesOverTheFileThatIsMapped) {
  const TemporaryFolder folder;
  const std::string path = folder.path("model.safetensors");
  write_text(path, test::small_safetensors());
  const SafetensorsFile before(path);
  write_safetensors(path, before.tensors(), before.metadata());
  const SafetensorsFile after(path);
  ASSERT_EQ(after.tensors().size(), before.tensors().size());
  for (size_t i = 0; i < before.tensors().size(); ++i) {
    EXPECT_EQ(to_text(before.tensors()[i].bytes), to_text(after.tensors()[i].bytes));
    EXPECT_EQ(after.tensors()[i].name, before.tensors()[i].name);
  }
  EXPECT_EQ(after.tensors()[0].bytes[0], std::byte{1});
  EXPECT_EQ(files_in(folder.path()), 1u);
}

// Saves 4096 bytes in a child process whose files may grow to `limit_bytes`. The write that crosses the limit kills the
// child (SIGXFSZ), or, when the signal is ignored, fails as on a full disk. Returns the child's status.
int save_in_child(const std::string& path, rlim_t limit_bytes, bool is_signal_ignored) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, is_signal_ignored ? SIG_IGN : SIG_DFL);
    const rlimit limit{limit_bytes, limit_bytes};
    const rlimit no_core{0, 0};
    int code = 1;
    if (::setrlimit(RLIMIT_FSIZE, &limit) == 0 && ::setrlimit(RLIMIT_CORE, &no_core) == 0) {
      try {
        write_safetensors(path, {tensor("a", DType::kU8, {4096})});
        code = 2;
      } catch (const Error& error) {
        code = error.code() == ErrorCode::kFileWrite ? 0 : 3;
      }
    }
    ::_exit(code);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(SafetensorsWriter, AKillInTheMiddleLeavesTheOldFile) {
  for (const rlim_t limit_bytes : {0u, 1u, 8u, 9u, 80u, 1000u, 4095u}) {
    const TemporaryFolder folder;
    const std::string path = folder.path("model.safetensors");
    write_text(path, test::small_safetensors());
    const int status = save_in_child(path, limit_bytes, false);
    ASSERT_TRUE(WIFSIGNALED(status)) << limit_bytes;
    EXPECT_EQ(WTERMSIG(status), SIGXFSZ);
    EXPECT_EQ(read_file(path, 4096), test::small_safetensors());
    EXPECT_EQ(files_in(folder.path()), 2u);  // the killed child's temporary file remains beside it
  }
}

TEST(SafetensorsWriter, AFullDiskLeavesTheOldFileAndNothingElse) {
  for (const rlim_t limit_bytes : {0u, 8u, 1000u, 4095u}) {
    const TemporaryFolder folder;
    const std::string path = folder.path("model.safetensors");
    write_text(path, test::small_safetensors());
    const int status = save_in_child(path, limit_bytes, true);
    ASSERT_TRUE(WIFEXITED(status)) << limit_bytes;
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(read_file(path, 4096), test::small_safetensors());
    EXPECT_EQ(files_in(folder.path()), 1u);
  }
}

TEST(SafetensorsWriter, RefusesFoldersItCannotWriteTo) {
  const TemporaryFolder folder;
  const std::vector<TensorView> tensors = {tensor("a", DType::kF32, {1})};
  EXPECT_ERROR(write_safetensors(folder.path("absent/model.safetensors"), tensors), kFileWrite, "cannot create");
  EXPECT_ERROR(write_safetensors("/proc/model.safetensors", tensors), kFileWrite, "cannot create");
  EXPECT_ERROR(write_safetensors(folder.path(), tensors), kFileWrite, "expected a file, got a folder");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0500), 0);
  if (::geteuid() != 0)
    EXPECT_ERROR(write_safetensors(folder.path("model.safetensors"), tensors), kFileWrite, "cannot create");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0700), 0);
  EXPECT_EQ(files_in(folder.path()), 0u);
}

}  // namespace
}  // namespace deberta::safetensors_write_test
