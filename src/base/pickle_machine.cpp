// The stack machine: one loop over the opcodes, a stack, the marks in it, and the memo.
#include "base/pickle_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"
#include "deberta/error.h"

namespace deberta {
namespace {

using Use = PickleGlobal::Use;

constexpr size_t kMaxStack = 1000000;
constexpr uint64_t kMaxMemo = 1000000;
constexpr uint64_t kMaxStringBytes = uint64_t{16} << 20;
// Objects created and items put into them. Two bytes of pickle can create an item of 32: this bounds the memory.
constexpr size_t kMaxValues = 4000000;
constexpr std::string_view kMetadataAttribute = "_metadata";

std::string quote_short(std::string_view text) {
  return quote_json(replace_invalid_utf8(text.substr(0, 80)));
}

bool is_dict(PickleKind kind) {
  return kind == PickleKind::kDict || kind == PickleKind::kOrderedDict;
}

}  // namespace

class PickleMachine {
 public:
  PickleMachine(Bytes bytes, const std::string& where, std::span<const PickleGlobal> globals)
      : bytes_(bytes.first(std::min<size_t>(bytes.size(), kMaxPickleBytes))), reader_(bytes_), where_(where) {
    pickle_.globals_ = globals;
  }

  Pickle run();

 private:
  struct Row;
  static const Row kRows[];
  using M = PickleMachine;

  [[noreturn]] void refuse(std::string_view message) const {
    throw Error(ErrorCode::kBin, where_, fmt::format("pickle: {} at offset {}: {}", opcode_, offset_, message));
  }

  // ---- the bytes after an opcode
  Bytes take(uint64_t count) {
    const auto bytes = reader_.take(count);
    if (!bytes) refuse(fmt::format("expected {} more bytes, got {}: truncated", count, reader_.left()));
    return *bytes;
  }
  uint64_t number(size_t size_bytes) {
    Reader reader(take(size_bytes));
    return *reader.take_little_endian(size_bytes);
  }
  std::string_view line();
  void check_proto();
  void check_frame();

  // ---- the stack
  void push(PickleValue value) { stack_.push_back(value); }
  void push_integer(int64_t value) { push({PickleKind::kInteger, value, {}}); }
  void push_string(uint64_t size_bytes);
  void push_bytes(uint64_t size_bytes);
  void push_long(uint64_t size_bytes);
  void push_float();
  void push_object(PickleKind kind, std::vector<PickleValue> items);
  // What is above the last mark is all that an opcode may touch.
  size_t above_mark() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }
  PickleValue pop();
  PickleValue& top();
  std::vector<PickleValue> pop_many(size_t count);
  std::vector<PickleValue> pop_to_mark();
  void stop();

  // ---- the memo
  void put(uint64_t index);
  void get(uint64_t index);

  // ---- containers
  void append(const std::vector<PickleValue>& values);
  void add_items(const std::vector<PickleValue>& values);
  void set_items(const std::vector<PickleValue>& values);
  void extend(const PickleValue& container, const std::vector<PickleValue>& values);
  void count_values(size_t count);

  // ---- what would be calls
  void push_global(std::string_view module, std::string_view name);
  void read_global();
  void read_stack_global();
  void reduce();
  void push_typed(const std::vector<PickleValue>& items);
  void new_object();
  void build();
  void push_storage();
  const PickleGlobal& expect_global(const PickleValue& value) const;
  void expect(const PickleValue& value, PickleKind kind) const;

  Bytes bytes_;
  Reader reader_;
  const std::string& where_;
  size_t offset_ = 0;        // offset of the current opcode
  std::string_view opcode_;  // its name
  bool stopped_ = false;
  std::vector<PickleValue> stack_;
  std::vector<size_t> marks_;  // heights of the stack
  std::unordered_map<uint64_t, PickleValue> memo_;
  size_t values_ = 0;
  Pickle pickle_;
};

// The opcodes that describe data. All others, which create objects and call functions, are refused.
struct PickleMachine::Row {
  uint8_t opcode;
  std::string_view name;
  void (*run)(PickleMachine& machine);
};

constexpr PickleMachine::Row PickleMachine::kRows[] = {
    {0x80, "PROTO", [](M& m) { m.check_proto(); }},
    {0x95, "FRAME", [](M& m) { m.check_frame(); }},
    {'.', "STOP", [](M& m) { m.stop(); }},
    {'(', "MARK", [](M& m) { m.marks_.push_back(m.stack_.size()); }},
    {'1', "POP_MARK", [](M& m) { m.pop_to_mark(); }},
    {'N', "NONE", [](M& m) { m.push({}); }},
    {0x88, "NEWTRUE",
     [](M& m) {
       m.push({PickleKind::kBool, 1, {}});
     }},
    {0x89, "NEWFALSE",
     [](M& m) {
       m.push({PickleKind::kBool, 0, {}});
     }},
    {'J', "BININT", [](M& m) { m.push_integer(static_cast<int32_t>(static_cast<uint32_t>(m.number(4)))); }},
    {'K', "BININT1", [](M& m) { m.push_integer(static_cast<int64_t>(m.number(1))); }},
    {'M', "BININT2", [](M& m) { m.push_integer(static_cast<int64_t>(m.number(2))); }},
    {0x8A, "LONG1", [](M& m) { m.push_long(m.number(1)); }},
    {'G', "BINFLOAT", [](M& m) { m.push_float(); }},
    {'X', "BINUNICODE", [](M& m) { m.push_string(m.number(4)); }},
    {0x8C, "SHORT_BINUNICODE", [](M& m) { m.push_string(m.number(1)); }},
    {0x8D, "BINUNICODE8", [](M& m) { m.push_string(m.number(8)); }},
    {'U', "SHORT_BINSTRING", [](M& m) { m.push_string(m.number(1)); }},
    {'C', "SHORT_BINBYTES", [](M& m) { m.push_bytes(m.number(1)); }},
    {'B', "BINBYTES", [](M& m) { m.push_bytes(m.number(4)); }},
    {0x8E, "BINBYTES8", [](M& m) { m.push_bytes(m.number(8)); }},
    {0x96, "BYTEARRAY8", [](M& m) { m.push_bytes(m.number(8)); }},
    {'h', "BINGET", [](M& m) { m.get(m.number(1)); }},
    {'j', "LONG_BINGET", [](M& m) { m.get(m.number(4)); }},
    {'q', "BINPUT", [](M& m) { m.put(m.number(1)); }},
    {'r', "LONG_BINPUT", [](M& m) { m.put(m.number(4)); }},
    {0x94, "MEMOIZE", [](M& m) { m.put(m.memo_.size()); }},
    {')', "EMPTY_TUPLE", [](M& m) { m.push_object(PickleKind::kTuple, {}); }},
    {']', "EMPTY_LIST", [](M& m) { m.push_object(PickleKind::kList, {}); }},
    {'}', "EMPTY_DICT", [](M& m) { m.push_object(PickleKind::kDict, {}); }},
    {0x8F, "EMPTY_SET", [](M& m) { m.push_object(PickleKind::kSet, {}); }},
    {0x90, "ADDITEMS", [](M& m) { m.add_items(m.pop_to_mark()); }},
    {0x91, "FROZENSET", [](M& m) { m.push_object(PickleKind::kSet, m.pop_to_mark()); }},
    {'t', "TUPLE", [](M& m) { m.push_object(PickleKind::kTuple, m.pop_to_mark()); }},
    {0x85, "TUPLE1", [](M& m) { m.push_object(PickleKind::kTuple, m.pop_many(1)); }},
    {0x86, "TUPLE2", [](M& m) { m.push_object(PickleKind::kTuple, m.pop_many(2)); }},
    {0x87, "TUPLE3", [](M& m) { m.push_object(PickleKind::kTuple, m.pop_many(3)); }},
    {'a', "APPEND", [](M& m) { m.append(m.pop_many(1)); }},
    {'e', "APPENDS", [](M& m) { m.append(m.pop_to_mark()); }},
    {'s', "SETITEM", [](M& m) { m.set_items(m.pop_many(2)); }},
    {'u', "SETITEMS", [](M& m) { m.set_items(m.pop_to_mark()); }},
    {'c', "GLOBAL", [](M& m) { m.read_global(); }},
    {0x93, "STACK_GLOBAL", [](M& m) { m.read_stack_global(); }},
    {'R', "REDUCE", [](M& m) { m.reduce(); }},
    {0x81, "NEWOBJ", [](M& m) { m.new_object(); }},
    {'b', "BUILD", [](M& m) { m.build(); }},
    {'Q', "BINPERSID", [](M& m) { m.push_storage(); }},
};

Pickle PickleMachine::run() {
  std::array<const Row*, 256> rows{};
  for (const Row& row : kRows) rows[row.opcode] = &row;
  while (!stopped_) {
    offset_ = reader_.position();
    opcode_ = "opcode";
    if (reader_.left() == 0) refuse("expected STOP within 64 MB, got the end");
    const auto opcode = static_cast<uint8_t>(number(1));
    const Row* row = rows[opcode];
    if (row == nullptr) {
      throw Error(ErrorCode::kBin, where_,
                  fmt::format("pickle: opcode 0x{:02x} at offset {} is not data", opcode, offset_));
    }
    opcode_ = row->name;
    if (offset_ == 0 && opcode != 0x80) refuse("expected PROTO first: not a pickle of protocol 2 to 5");
    row->run(*this);
    if (stack_.size() + marks_.size() > kMaxStack)
      refuse(fmt::format("expected at most {} values on the stack", kMaxStack));
  }
  pickle_.size_bytes_ = reader_.position();
  return std::move(pickle_);
}

std::string_view PickleMachine::line() {
  const size_t begin = reader_.position();
  const std::string_view rest = to_text(bytes_).substr(begin);
  const size_t end = rest.find('\n');
  if (end == rest.npos) refuse("expected a line: truncated");
  return to_text(take(end + 1)).substr(0, end);
}

void PickleMachine::check_proto() {
  if (offset_ != 0) refuse("expected PROTO once, at the start");
  const uint64_t protocol = number(1);
  if (protocol < 2 || protocol > 5) refuse(fmt::format("expected protocol 2 to 5, got {}", protocol));
}

void PickleMachine::check_frame() {
  const uint64_t size_bytes = number(8);
  if (size_bytes > reader_.left()) refuse(fmt::format("expected at most {} bytes, got {}", reader_.left(), size_bytes));
}

void PickleMachine::push_string(uint64_t size_bytes) {
  if (size_bytes > kMaxStringBytes) refuse(fmt::format("expected a string of at most 16 MB, got {} bytes", size_bytes));
  push({PickleKind::kString, 0, to_text(take(size_bytes))});
}

void PickleMachine::push_bytes(uint64_t size_bytes) {
  take(size_bytes);
  push({PickleKind::kOther, 0, {}});
}

// Two's complement, as many bytes as needed. No number in a tensor has more than 8; a configuration beside it may.
void PickleMachine::push_long(uint64_t size_bytes) {
  if (size_bytes > 8) return push_bytes(size_bytes);
  uint64_t value = number(static_cast<size_t>(size_bytes));
  const bool is_negative = size_bytes > 0 && (value >> (8 * size_bytes - 1) & 1) != 0;
  if (is_negative && size_bytes < 8) value |= ~uint64_t{0} << 8 * size_bytes;
  push_integer(static_cast<int64_t>(value));
}

// A state dict's fractions are never read.
void PickleMachine::push_float() {
  take(8);
  push({PickleKind::kFloat, 0, {}});
}

void PickleMachine::count_values(size_t count) {
  values_ += count;
  if (values_ > kMaxValues) refuse(fmt::format("expected at most {} values in total", kMaxValues));
}

void PickleMachine::push_object(PickleKind kind, std::vector<PickleValue> items) {
  count_values(1 + items.size());
  pickle_.objects_.push_back(std::move(items));
  push({kind, static_cast<int64_t>(pickle_.objects_.size() - 1), {}});
}

PickleValue PickleMachine::pop() {
  const PickleValue value = top();
  stack_.pop_back();
  return value;
}

PickleValue& PickleMachine::top() {
  if (above_mark() == 0) refuse("expected a value on the stack, got none");
  return stack_.back();
}

std::vector<PickleValue> PickleMachine::pop_many(size_t count) {
  if (above_mark() < count) refuse(fmt::format("expected {} values on the stack, got {}", count, above_mark()));
  const auto begin = stack_.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<PickleValue> values(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  return values;
}

std::vector<PickleValue> PickleMachine::pop_to_mark() {
  if (marks_.empty()) refuse("expected a mark on the stack, got none");
  std::vector<PickleValue> values = pop_many(above_mark());
  marks_.pop_back();
  return values;
}

void PickleMachine::stop() {
  if (stack_.size() != 1 || !marks_.empty()) {
    refuse(fmt::format("expected one value on the stack, got {} and {} marks", stack_.size(), marks_.size()));
  }
  pickle_.root_ = stack_.front();
  stopped_ = true;
}

void PickleMachine::put(uint64_t index) {
  if (index >= kMaxMemo) refuse(fmt::format("expected an index below {}, got {}", kMaxMemo, index));
  memo_[index] = top();
}

void PickleMachine::get(uint64_t index) {
  const auto at = memo_.find(index);
  if (at == memo_.end()) refuse(fmt::format("expected an index stored earlier, got {}", index));
  push(at->second);
}

void PickleMachine::append(const std::vector<PickleValue>& values) {
  const PickleValue& list = top();
  expect(list, PickleKind::kList);
  extend(list, values);
}

void PickleMachine::add_items(const std::vector<PickleValue>& values) {
  const PickleValue& set = top();
  expect(set, PickleKind::kSet);
  extend(set, values);
}

void PickleMachine::set_items(const std::vector<PickleValue>& values) {
  const PickleValue& dict = top();
  if (!is_dict(dict.kind)) expect(dict, PickleKind::kDict);
  if (values.size() % 2 != 0) refuse("expected keys with values, got an odd number");
  extend(dict, values);
}

void PickleMachine::extend(const PickleValue& container, const std::vector<PickleValue>& values) {
  count_values(values.size());
  std::vector<PickleValue>& items = pickle_.objects_[static_cast<size_t>(container.number)];
  items.insert(items.end(), values.begin(), values.end());
}

void PickleMachine::push_global(std::string_view module, std::string_view name) {
  const std::span<const PickleGlobal> globals = pickle_.globals_;
  for (size_t i = 0; i < globals.size(); ++i) {
    if (globals[i].module == module && globals[i].name == name)
      return push({PickleKind::kGlobal, static_cast<int64_t>(i), {}});
  }
  refuse(fmt::format("{} of {} is not data: not an allowed global", quote_short(name), quote_short(module)));
}

void PickleMachine::read_global() {
  const std::string_view module = line();
  push_global(module, line());
}

void PickleMachine::read_stack_global() {
  const PickleValue name = pop();
  const PickleValue module = pop();
  expect(name, PickleKind::kString);
  expect(module, PickleKind::kString);
  push_global(module.text, name.text);
}

const PickleGlobal& PickleMachine::expect_global(const PickleValue& value) const {
  expect(value, PickleKind::kGlobal);
  return pickle_.global_of(value);
}

void PickleMachine::expect(const PickleValue& value, PickleKind kind) const {
  if (value.kind != kind) refuse(fmt::format("expected a {}, got a {}", to_string(kind), to_string(value.kind)));
}

// Python would call the global with the tuple; here the two become a value that describes the result.
void PickleMachine::reduce() {
  const PickleValue arguments = pop();
  const PickleGlobal& global = expect_global(pop());
  expect(arguments, PickleKind::kTuple);
  const std::vector<PickleValue>& items = pickle_.objects_[static_cast<size_t>(arguments.number)];
  switch (global.use) {
    case Use::kOrderedDict:
      if (!items.empty()) refuse("OrderedDict: expected no arguments");
      return push_object(PickleKind::kOrderedDict, {});
    case Use::kSize:
      if (items.size() != 1) refuse("torch.Size: expected one argument");
      expect(items[0], PickleKind::kTuple);
      return push(items[0]);
    case Use::kTensor:
      return push({PickleKind::kTensor, arguments.number, {}});
    case Use::kParameter:
      return push({PickleKind::kParameter, arguments.number, {}});
    case Use::kTyped:
      return push_typed(items);
    case Use::kDefaultDict:
      return push_object(PickleKind::kDict, {});
    case Use::kOther:
      return push({PickleKind::kOther, 0, {}});
    case Use::kStorageType:
      break;
  }
  refuse(fmt::format("{} is a type, not data: it cannot be called", global.name));
}

// A tensor with attributes of its own: its constructor, its type, the arguments, the attributes.
void PickleMachine::push_typed(const std::vector<PickleValue>& items) {
  if (items.size() != 4) refuse("expected four arguments");
  const Use use = expect_global(items[0]).use;
  expect_global(items[1]);
  expect(items[2], PickleKind::kTuple);
  if (use != Use::kTensor && use != Use::kParameter) refuse("expected a function that rebuilds a tensor");
  push({use == Use::kTensor ? PickleKind::kTensor : PickleKind::kParameter, items[2].number, {}});
}

void PickleMachine::new_object() {
  const PickleValue arguments = pop();
  const PickleGlobal& global = expect_global(pop());
  expect(arguments, PickleKind::kTuple);
  const bool is_empty = pickle_.objects_[static_cast<size_t>(arguments.number)].empty();
  if (global.use != Use::kOrderedDict || !is_empty) refuse("expected OrderedDict without arguments");
  push_object(PickleKind::kOrderedDict, {});
}

// The only known attribute: module versions, of no use here.
void PickleMachine::build() {
  const PickleValue state = pop();
  expect(top(), PickleKind::kOrderedDict);
  expect(state, PickleKind::kDict);
  const std::vector<PickleValue>& items = pickle_.objects_[static_cast<size_t>(state.number)];
  const bool is_metadata =
      items.size() == 2 && items[0].kind == PickleKind::kString && items[0].text == kMetadataAttribute;
  if (!is_metadata) refuse("expected only the attribute _metadata");
}

void PickleMachine::push_storage() {
  const PickleValue id = pop();
  expect(id, PickleKind::kTuple);
  push({PickleKind::kStorage, id.number, {}});
  count_values(1);
  pickle_.storages_.push_back(top());
}

Pickle parse_pickle(Bytes bytes, const std::string& where, std::span<const PickleGlobal> globals) {
  return PickleMachine(bytes, where, globals).run();
}

}  // namespace deberta
