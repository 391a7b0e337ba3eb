// From the object of a row to its examples, one function per format. Only examples.cpp calls them.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "data/examples.h"

namespace deberta {

// Adds the examples of a row. An exception (kInput) is the error of the whole row; single parts that are wrong are
// added with their own error.
using ReadForm = void (*)(const Json& row, const std::string& where, const ExampleRules& rules,
                          std::deque<Example>& examples);

void read_text_form(const Json& row, const std::string& where, const ExampleRules& rules,
                    std::deque<Example>& examples);
void read_wic(const Json& row, const std::string& where, const ExampleRules& rules, std::deque<Example>& examples);
void read_wsc(const Json& row, const std::string& where, const ExampleRules& rules, std::deque<Example>& examples);
void read_multirc(const Json& row, const std::string& where, const ExampleRules& rules, std::deque<Example>& examples);
void read_record(const Json& row, const std::string& where, const ExampleRules& rules, std::deque<Example>& examples);
void read_copa(const Json& row, const std::string& where, const ExampleRules& rules, std::deque<Example>& examples);
void read_swag(const Json& row, const std::string& where, const ExampleRules& rules, std::deque<Example>& examples);
void read_race(const Json& row, const std::string& where, const ExampleRules& rules, std::deque<Example>& examples);
void read_alpha_nli(const Json& row, const std::string& where, const ExampleRules& rules,
                    std::deque<Example>& examples);
void read_ranking(const Json& row, const std::string& where, const ExampleRules& rules, std::deque<Example>& examples);

// Names of the field with a query's right documents (kRanking), where the row has no list of all its documents.
const std::vector<std::string>& positive_names();

// ---- rows of one document each (kRanking): their `group` is the query

// Adds the document of the next row.
void append_document(Example next, Example& query);
// Throws kInput where there are none or too many, where some alone have a label or a score, and for a label below 0.
void check_documents(const Example& query);

// ---- what the forms share

// The first of the names that the row has as a field; empty when it has none of them.
std::string_view present_name(const Json& row, const std::vector<std::string>& names);

// The text under the first of the names that the row has. Throws kInput.
std::string needed_text(const Json& row, const FieldNames& field, const std::string& where);

// Each example holds its passage: throws kTooLarge when the copies of `shared` for one row would fill the memory.
void check_copies(const Example& shared, size_t copies);

// About a row without the field; `hint`: where else it could be. kInput.
Error missing_field(const FieldNames& field, std::string_view hint, const Json& row, const std::string& where);

// A finite number, or the text of one, as cells are. Throws kInput.
double number_value(const Json& value, std::string_view key, const std::string& where);

// A label as text: a name as it is, a number as JSON writes it, true or false; a list of names joined by commas.
// Nothing if the member is missing or null, or -1, which stands for a hidden label. Throws kInput.
std::optional<std::string> label_member(const Json& row, std::string_view key, const std::string& where);

// A name or number that says which row it is; empty when it is missing. Throws kInput.
std::string id_member(const Json& row, std::string_view key, const std::string& where);

// A name, a number or a truth that rows are sorted by, as text; nothing where it is missing, null or empty, and for no
// key. Throws kInput.
std::optional<std::string> slice_member(const Json& row, std::string_view key, const std::string& where);

// What a row weighs: 0, or from 1e-6 to 1e6, as a number or its text; 1 for no key. Throws kInput, also where it is
// missing.
double weight_member(const Json& row, std::string_view key, const std::string& where);

// The number of a choice, below `choices`, from its text; "A" is 0 where letters count. Throws kInput.
std::string choice_label(std::string_view text, size_t choices, std::string_view key, const std::string& where);

}  // namespace deberta
