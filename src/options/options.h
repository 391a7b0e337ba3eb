// The option table: one row per option, one row per verb. Parsing, help, completion, docs/reference/options.md,
// environment names and --config files all follow from it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deberta {

struct Parameter;  // pipeline/parameters.h

// kFiles: names of files, each given separately.
enum class OptionType { kFlag, kText, kInteger, kNumber, kSize, kChoice, kList, kFiles };

// One row of the option table: a setting of the command line, of an environment variable and of --config files.
struct OptionRow {
  std::string_view name;  // without the dashes
  char short_name;        // 0: none
  OptionType type;
  std::string_view default_value;  // as it would be typed; "" for none
  // "1..64" for numbers and sizes, "auto|1..64" for those that other options decide by default, "a|b" for choices, a
  // placeholder for other values
  std::string_view range;
  std::string_view verbs;                // separated by spaces; "*": every verb
  std::string_view help;                 // as help_text() completes it
  const Parameter* parameter = nullptr;  // that it is; null: it belongs to the program alone
  std::string_view more = {};            // behind the text of the parameter
  std::string_view remedy = {};          // for who gives a number that is out of range
  std::string_view section = {};         // heading in the help; set by the table, from the file that the row is in
};
std::span<const OptionRow> option_table();
constexpr std::string_view kOutputSection = "Output";  // where a FILE or a DIR is written, and not read
std::span<const std::string_view> option_sections();   // every section of the table, in the order that pages show
bool takes_auto(const OptionRow& row);
bool is_secret(const OptionRow& row);          // a value that is never shown
std::string range_text(const OptionRow& row);  // for messages: "1..64", "1..64 or auto"
std::string help_text(const OptionRow& row);   // with the options that it speaks of

// A former name of an option, which command lines, --config files and the environment may still use.
struct OptionAlias {
  std::string_view name;
  std::string_view verbs;
  std::string_view option;  // the option's current name
  std::string_view value;   // for a former flag: what it meant; else empty
};
std::span<const OptionAlias> option_aliases();
// For one verb; null when the name is not a former one.
const OptionAlias* find_alias(std::string_view verb, std::string_view name);

// The option values of one run of one verb. Every value is checked against its row when it is set.
class Options {
 public:
  // All options of `verb` at their defaults.
  explicit Options(std::string_view verb);

  // `origin` says where the value came from: "default", "config FILE", "environment NAME", "flag". Throws kUsage.
  void set(std::string_view name, std::string_view value, std::string_view origin);
  // An option given several times: lists and files accumulate, others are refused.
  void set(std::string_view name, const std::vector<std::string>& values, std::string_view origin);

  const std::string& verb() const { return verb_; }
  // `row` is one of options_of(verb()). A verb reads its values from a struct of verb_options.h.
  bool is_given(const OptionRow& row) const;  // by anything but the default
  bool is_auto(const OptionRow& row) const;   // given or not; then it has no number
  const std::string& origin(const OptionRow& row) const;
  bool flag(const OptionRow& row) const;
  const std::string& text(const OptionRow& row) const;
  int64_t integer(const OptionRow& row) const;
  double number(const OptionRow& row) const;
  std::vector<std::string> list(const OptionRow& row) const;  // split at commas; empty text: no items
  const std::vector<std::string>& files(const OptionRow& row) const;

  std::vector<std::string> arguments;  // the positional ones
  std::vector<std::string> words;  // the whole command line that this comes from, for a program that it is passed on to

  std::vector<const OptionRow*> unread() const;  // options whose values have not been read

  // `name = value  (origin)`, one line per option.
  std::string describe() const;

 private:
  struct Value {
    const OptionRow* row;
    std::string text;
    std::string origin;
    std::vector<std::string> files = {};  // kFiles; `text` then shows them
    mutable bool is_read = false;
  };
  const Value& value(const OptionRow& row) const;

  std::string verb_;
  std::vector<Value> values_;
};

// Sets the option behind a former name: to `value`, or to what a former flag meant if `value` is true. Throws kUsage.
void set_alias(const OptionAlias& alias, std::string_view value, std::string_view origin, Options& options);

struct VerbRow {
  std::string_view name;
  std::string_view summary;
  std::string_view arguments;    // positional ones, as in the usage line
  std::string_view example;      // the words after `deberta`
  std::string_view common = {};  // the options that help shows first, separated by spaces
  std::string_view arrays = {};  // extensions of -o that mean an array or a page, separated by spaces
};

std::span<const VerbRow> verb_table();
const VerbRow* find_verb(std::string_view name);

// A verb that ./run of a checkout has and no program.
struct ScriptRow {
  std::string_view name, summary, example;
};
std::span<const ScriptRow> script_table();
void refuse_script_verb(std::string_view verb);  // throws kUsage for one of those

bool applies_to(const OptionRow& row, std::string_view verb);
std::vector<const OptionRow*> common_options(const VerbRow& verb);  // those that help shows first
bool writes_array(const VerbRow& verb, std::string_view ending);
std::vector<const OptionRow*> options_of(std::string_view verb);
const OptionRow* find_option(std::string_view verb,
                             std::string_view name);  // null when the verb has none with that name
bool has_option(std::string_view verb, std::string_view name);
double range_min(const OptionRow& row);                 // for a number or a size
std::string environment_name(std::string_view option);  // "max-tokens" -> "DEBERTA_MAX_TOKENS"

// "16k" -> 16000, "2GiB" -> 2^31: a number with an optional k, M, G, KiB, MiB or GiB. Throws kUsage.
uint64_t parse_size(std::string_view text, std::string_view where);

}  // namespace deberta
