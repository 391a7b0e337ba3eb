// Rows between two threads: order, limits, pauses, and every way to end. What a user sees is in test_streams.py.
#include "rows/read_ahead.h"

#include "rows/row_files.h"
#include "rows/row_taker.h"

#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::read_ahead_test {
namespace {

constexpr size_t kRows = 3000;

Row row_of(size_t number, size_t bytes) {
  Row row;
  row.where = std::to_string(number);
  row.text.assign(bytes, 'x');
  return row;
}

// ---- the queue

TEST(RowQueue, EveryRowOnceInOrderAndGroupsWithinTheirLimits) {
  constexpr RowQueue::Limits kLimits{.rows = 7, .bytes = 40};
  RowQueue queue(kLimits);
  std::thread reading([&] {
    for (size_t i = 0; i < kRows; ++i) {
      if (i % 100 == 0) queue.pause();
      EXPECT_TRUE(queue.push(row_of(i, i % 50), static_cast<double>(i)));
    }
    queue.end();
  });
  size_t next = 0;
  for (RowGroup group = queue.take(); !group.rows.empty(); group = queue.take()) {
    size_t bytes = 0;
    for (const Row& row : group.rows) {
      EXPECT_EQ(row.where, std::to_string(next++));
      bytes += row.text.size();
    }
    EXPECT_EQ(group.fraction_done, static_cast<double>(next - 1));
    EXPECT_TRUE(group.rows.size() == 1 || (group.rows.size() <= kLimits.rows && bytes <= kLimits.bytes));
  }
  reading.join();
  EXPECT_EQ(next, kRows);
}

TEST(RowQueue, APauseHandsOverWhatIsThereAndAFullQueueWaits) {
  RowQueue queue({.rows = 2});
  EXPECT_TRUE(queue.push(row_of(0, 1), {}));
  queue.pause();
  EXPECT_EQ(queue.take().rows.size(), 1u);
  for (size_t i = 0; i < 2 * RowQueue::kGroupsAhead; ++i) EXPECT_TRUE(queue.push(row_of(i, 1), {}));
  std::thread reading([&] { EXPECT_FALSE(queue.push(row_of(99, 1), {})); });  // waits for room until the consumer stops
  queue.close();
  reading.join();
}

// ---- both threads

class ReadAheadOf : public testing::Test {
 protected:
  // A file of kRows lines "line N".
  ReadAheadOf() : path_(folder_.path("rows.txt")) {
    std::string text;
    for (size_t i = 0; i < kRows; ++i) text += "line " + std::to_string(i) + "\n";
    test::write_text(path_, text);
  }
  ReadAhead reading(EncodeRow encode) const {
    const auto open = [this](const std::function<bool()>& is_stopped) {
      return open_row_file(path_, {.fields = {.shape = {.names = {"text"}}}}, is_stopped);
    };
    return ReadAhead(open, {.encode = std::move(encode), .batch_tokens = 64});
  }
  static std::vector<Encoding> encode(const Row& row) {
    std::vector<Encoding> encodings(1);
    encodings[0].ids.assign(row.text.size(), 1);
    return encodings;
  }

  test::TemporaryFolder folder_;
  std::string path_;
};

TEST_F(ReadAheadOf, GroupsComeInOrderAndNoneIsLost) {
  size_t next = 0;
  reading(encode).run([&](RowGroup& group) {
    size_t tokens = 0;
    for (const Row& row : group.rows) {
      EXPECT_EQ(row.text, "line " + std::to_string(next++));
      tokens += row.encodings.at(0).size();
    }
    EXPECT_LE(tokens, 64u);
  });
  EXPECT_EQ(next, kRows);
}

TEST_F(ReadAheadOf, WhatEncodingThrowsIsTheRowsOwnError) {
  size_t bad = 0, good = 0;
  const auto refuse_nines = [](const Row& row) {
    if (row.text.ends_with('9')) throw Error(ErrorCode::kInput, row.where, "a nine");
    return encode(row);
  };
  reading(refuse_nines).run([&](RowGroup& group) {
    for (const Row& row : group.rows) ++(row.error ? bad : good);
  });
  EXPECT_EQ(bad, kRows / 10);
  EXPECT_EQ(good, kRows - kRows / 10);
}

TEST_F(ReadAheadOf, WhatAnsweringThrowsEndsReading) {
  size_t groups = 0;
  const auto fail_at_the_third = [&](RowGroup&) {
    if (++groups == 3) throw Error(ErrorCode::kInput, "group 3", "refused");
  };
  EXPECT_ERROR(reading(encode).run(fail_at_the_third), kInput, "group 3");
  EXPECT_EQ(groups, 3u);
}

TEST_F(ReadAheadOf, WhatReadingThrowsComesAfterTheRowsBefore) {
  size_t taken = 0;
  size_t encoded = 0;
  const auto break_down = [&](const Row& row) -> std::vector<Encoding> {
    if (++encoded == 100) throw std::bad_alloc();
    return encode(row);
  };
  EXPECT_THROW(reading(break_down).run([&](RowGroup& group) { taken += group.rows.size(); }), std::bad_alloc);
  EXPECT_EQ(taken, 99u);
}

// ---- rows by their numbers

TEST_F(ReadAheadOf, EveryRowIsAnsweredOrRefusedUnderItsNumber) {
  const auto refuse_nines = [](const Row& row) {
    if (row.text.ends_with('9')) throw Error(ErrorCode::kInput, "encoding", "a nine");
    return encode(row);
  };
  std::vector<std::string> fate(kRows);
  size_t rows_told = 0, tokens_told = 0;
  ReadAhead rows = reading(refuse_nines);
  take_rows(rows, {.answer =
                       [&](std::span<const size_t> numbers, std::span<const Row> part) {
                         for (const Row& row : part) {
                           if (row.text.ends_with("55")) throw Error(ErrorCode::kInput, "answer", "ends in 55");
                         }
                         for (size_t i = 0; i < part.size(); ++i) fate[numbers[i]] += part[i].text;
                       },
                   .refuse = [&](size_t number, const Error& error) { fate[number] += error.what(); },
                   .advance =
                       [&](size_t done, size_t tokens, std::optional<double>) {
                         rows_told = done;
                         tokens_told = tokens;
                       }});
  for (size_t i = 0; i < kRows; ++i) {
    const std::string where = path_ + ":" + std::to_string(i + 1) + ": ";
    EXPECT_EQ(fate[i], i % 10 == 9     ? where + "encoding: a nine"
                       : i % 100 == 55 ? where + "answer: ends in 55"
                                       : "line " + std::to_string(i));
  }
  EXPECT_EQ(rows_told, kRows);
  EXPECT_GT(tokens_told, kRows);
}

TEST_F(ReadAheadOf, WhatRefusingThrowsEndsReading) {
  ReadAhead rows = reading([](const Row& row) -> std::vector<Encoding> {
    if (row.number == 2) throw Error(ErrorCode::kInput, "encoding", "the second");
    return encode(row);
  });
  size_t refused = 0;
  EXPECT_ERROR(take_rows(rows, {.answer = [](auto, auto) {},
                                .refuse =
                                    [&](size_t, const Error& error) {
                                      ++refused;
                                      throw Error(error);
                                    }}),
               kInput, ":2: encoding: the second");
  EXPECT_EQ(refused, 1u);
}

}  // namespace
}  // namespace deberta::read_ahead_test
