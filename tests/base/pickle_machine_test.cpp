// Pickles as data: every allowed opcode gives its value; everything else is refused, with its position.
#include "base/pickle_machine.h"

#include <gtest/gtest.h>

#include "checkpoint/bin_storages.h"
#include "support/bad_bin.h"
#include "support/expect_error.h"

namespace deberta::pickle_machine_test {
namespace {

using namespace std::string_literals;
using test::pickle;
using test::push_text;

// The pickle of `body` and its value; keeps the bytes alive.
struct Parsed {
  explicit Parsed(std::string_view body)
      : bytes(pickle(body)), value(parse_pickle(to_bytes(bytes), "w.bin", tensor_globals())) {}
  PickleKind kind() const { return value.root().kind; }
  int64_t number() const { return value.root().number; }
  std::span<const PickleValue> items() const { return value.items(value.root()); }

  std::string bytes;
  Pickle value;
};

TEST(PickleMachine, RefusesEveryBrokenPickleWithItsRule) {
  for (const test::BadFile& file : test::bad_pickles()) {
    SCOPED_TRACE(file.name);
    EXPECT_ERROR(parse_pickle(to_bytes(file.bytes), "w.bin", tensor_globals()), kBin, file.part);
    EXPECT_ERROR(parse_pickle(to_bytes(file.bytes), "w.bin", tensor_globals()), kBin, "w.bin: pickle: ");
  }
}

TEST(PickleMachine, ReadsNumbersAndText) {
  EXPECT_EQ(Parsed("N").kind(), PickleKind::kNone);
  EXPECT_EQ(Parsed("\x88").number(), 1);
  EXPECT_EQ(Parsed("\x89").number(), 0);
  EXPECT_EQ(Parsed("\x89").kind(), PickleKind::kBool);
  EXPECT_EQ(Parsed("J\xFE\xFF\xFF\xFF").number(), -2);
  EXPECT_EQ(Parsed("J\x01\x02\x03\x04").number(), 0x04030201);
  EXPECT_EQ(Parsed("K\xFF").number(), 255);
  EXPECT_EQ(Parsed("M\xFF\xFF").number(), 65535);
  EXPECT_EQ(Parsed("\x8a\x00"s).number(), 0);
  EXPECT_EQ(Parsed("\x8a\x01\xFF").number(), -1);
  EXPECT_EQ(Parsed("\x8a\x02\xFF\x00"s).number(), 255);
  EXPECT_EQ(Parsed("\x8a\x09" + std::string(9, '\x01')).value.root().kind, PickleKind::kOther);
  EXPECT_EQ(Parsed("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"s).number(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Parsed("G" + std::string(8, '.')).kind(), PickleKind::kFloat);
  for (const std::string& text : {"X\x02\0\0\0ab"s,
                                  "\x8c\x02"
                                  "ab"s,
                                  "U\x02"
                                  "ab"s})
    EXPECT_EQ(Parsed(text).value.root().text, "ab");
}

TEST(PickleMachine, ReadsContainers) {
  EXPECT_EQ(Parsed(")").kind(), PickleKind::kTuple);
  EXPECT_EQ(Parsed("(K\x01K\x02t").items()[1].number, 2);
  EXPECT_EQ(Parsed("K\x01\x85").items().size(), 1u);
  EXPECT_EQ(Parsed("K\x01K\x02\x86").items()[0].number, 1);
  EXPECT_EQ(Parsed("K\x01K\x02K\x03\x87").items()[2].number, 3);
  EXPECT_EQ(Parsed("]K\x01"
                   "a(K\x02K\x03"
                   "e")
                .items()[2]
                .number,
            3);
  EXPECT_EQ(Parsed("}K\x01K\x02s(K\x03K\x04u").items()[3].number, 4);
  EXPECT_EQ(Parsed("\x8f").kind(), PickleKind::kSet);
  EXPECT_EQ(Parsed("N(}]1").kind(), PickleKind::kNone);
  EXPECT_TRUE(Parsed("K\x01").items().empty());
}

TEST(PickleMachine, ReadsTheMemo) {
  const Parsed same("]q\x07h\x07\x86");
  EXPECT_EQ(same.items()[1].number, same.items()[0].number);
  EXPECT_EQ(Parsed("K\x05r\x3F\x42\x0f\x00j\x3F\x42\x0f\x00\x86"s).items()[1].number, 5) << "index 999,999";
  EXPECT_EQ(Parsed("(K\x05\x94K\x06\x94h\x01h\x00t"s).items()[2].number, 6) << "MEMOIZE counts from 0";
  EXPECT_EQ(Parsed("(K\x05q\x00K\x06q\x00h\x00t"s).items()[2].number, 6) << "an index may be written again";
}

TEST(PickleMachine, AListMayContainItself) {
  const Parsed parsed(
      "]q\x01h\x01"
      "a");
  ASSERT_EQ(parsed.items().size(), 1u);
  EXPECT_EQ(parsed.items()[0].kind, PickleKind::kList);
  EXPECT_EQ(parsed.items()[0].number, parsed.number());
}

TEST(PickleMachine, NamesWhatWouldBeMadeAndMakesNothing) {
  EXPECT_EQ(Parsed(test::push_empty_ordered_dict()).kind(), PickleKind::kOrderedDict);
  EXPECT_EQ(Parsed("ccollections\nOrderedDict\n)\x81").kind(), PickleKind::kOrderedDict);
  EXPECT_EQ(Parsed("\x8c\x0b"
                   "collections\x8c\x0bOrderedDict\x93)R")
                .kind(),
            PickleKind::kOrderedDict);
  const Parsed size("ctorch\nSize\nK\x05K\x06\x86\x85R");
  EXPECT_EQ(size.kind(), PickleKind::kTuple);
  EXPECT_EQ(size.items()[1].number, 6);
  EXPECT_EQ(Parsed(test::push_tensor({})).kind(), PickleKind::kTensor);
  EXPECT_EQ(Parsed(test::push_parameter("N")).kind(), PickleKind::kParameter);
  const Parsed storage(test::push_storage({}));
  EXPECT_EQ(storage.kind(), PickleKind::kStorage);
  EXPECT_EQ(storage.value.storages().size(), 1u);
  EXPECT_EQ(storage.items()[2].text, "0");
}

TEST(PickleMachine, PassesOverTheVersionsOfModules) {
  const Parsed parsed(test::push_empty_ordered_dict() + push_text("a") + "Ns}" + push_text("_metadata") + "}sb");
  EXPECT_EQ(parsed.items().size(), 2u);
}

TEST(PickleMachine, KnowsTheTypesOfStorages) {
  const std::vector<std::pair<std::string, DType>> types = {
      {"Float", DType::kF32}, {"Half", DType::kF16}, {"BFloat16", DType::kBf16}, {"Double", DType::kF64},
      {"Long", DType::kI64},  {"Int", DType::kI32},  {"Short", DType::kI16},     {"Char", DType::kI8},
      {"Byte", DType::kU8},   {"Bool", DType::kBool}};
  for (const auto& [name, dtype] : types) {
    const Parsed parsed(test::push_global("torch", name + "Storage"));
    const PickleGlobal& global = parsed.value.global_of(parsed.value.root());
    EXPECT_EQ(global.use, PickleGlobal::Use::kStorageType);
    EXPECT_EQ(global.element, static_cast<uint8_t>(dtype)) << name;
  }
}

TEST(PickleMachine, RefusesNamesThatAreNotInTheList) {
  const std::string bytes = pickle(test::push_global("collections", "OrderedDict"));
  EXPECT_ERROR(parse_pickle(to_bytes(bytes), "w.bin", {}), kBin, "\"OrderedDict\" of \"collections\" is not data");
}

TEST(PickleMachine, ReadsFramesAndAllProtocols) {
  for (const char protocol : {'\2', '\3', '\4', '\5'}) {
    const std::string bytes = "\x80"s + protocol + "\x95\x02\0\0\0\0\0\0\0}."s;
    EXPECT_EQ(parse_pickle(to_bytes(bytes), "w.bin", tensor_globals()).root().kind, PickleKind::kDict);
  }
}

TEST(PickleMachine, StopsAtStop) {
  const std::string bytes = pickle("}") + "cos\nsystem\n";
  EXPECT_EQ(parse_pickle(to_bytes(bytes), "w.bin", tensor_globals()).size_bytes(), 4u);
}

TEST(PickleMachine, ReadsAtMost64Megabytes) {
  const std::string text(size_t{16} << 20, 't');
  std::string body;
  for (int i = 0; i < 4; ++i) body += "(" + push_text(text) + "1";
  EXPECT_ERROR(Parsed(body + "}"), kBin, "expected");
  EXPECT_EQ(Parsed("(" + push_text(text) + "1}").kind(), PickleKind::kDict);
  EXPECT_ERROR(Parsed(push_text(text + "t")), kBin, "at most 16 MB, got 16777217 bytes");
}

}  // namespace
}  // namespace deberta::pickle_machine_test
