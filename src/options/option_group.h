// Options as typed members. `size_t top_k = option("top-k");` is filled with the option's value in this run; the types
// of the member and of the option's row must agree, and a name that the verb lacks is refused: a test constructs every
// struct.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "options/choices.h"
#include "options/options.h"

namespace deberta {

// A value that may have to give way to another, and whether the user asked for it.
template <class T>
struct Setting {
  T value;
  std::string origin;  // as in Options::set
  const OptionRow* row;
  bool is_auto = false;

  bool is_given() const { return origin != "default"; }
  bool is_free() const { return !is_given() || is_auto; }  // nothing but the table's default, or auto
  void set(T other, std::string_view from) {
    value = other;
    origin = from;
    is_auto = false;
  }
};

class OptionGroup {
 public:
  explicit OptionGroup(const Options& options)
      : options_(&options) {}  // used while the members are initialised, not later

 protected:
  // One value, on its way to a member.
  class Value {
   public:
    Value(const Options& options, const OptionRow& row) : options_(&options), row_(&row) {}
    template <class T>
    operator T() const {
      return read(std::type_identity<T>());
    }

   private:
    template <class T>
    Setting<T> read(std::type_identity<Setting<T>>) const {
      return {read(std::type_identity<T>()), options_->origin(*row_), row_, options_->is_auto(*row_)};
    }
    // A number, or nullopt for auto.
    template <class T>
    std::optional<T> read(std::type_identity<std::optional<T>>) const {
      if (options_->is_auto(*row_)) return std::nullopt;
      return read(std::type_identity<T>());
    }
    template <class T>
    T read(std::type_identity<T>) const {
      if constexpr (std::is_same_v<T, bool>) {
        return flag();
      } else if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(integer());
      } else if constexpr (ChoiceType<T>) {
        for (const auto& [word, meaning] : kChoiceWords<T>) {
          if (word == choice()) return meaning;
        }
        refuse();
      } else {
        return read_plain(std::type_identity<T>());
      }
    }
    double read_plain(std::type_identity<double>) const;
    std::string read_plain(std::type_identity<std::string>) const;
    std::vector<std::string> read_plain(std::type_identity<std::vector<std::string>>) const;
    bool flag() const;
    int64_t integer() const;
    const std::string& choice() const;
    void expect(bool fits) const;
    [[noreturn]] void refuse() const;

    const Options* options_;
    const OptionRow* row_;
  };

  // The same for an option that not every verb of the group has.
  class MaybeValue {
   public:
    MaybeValue(const Options& options, const OptionRow* row) : options_(&options), row_(row) {}
    template <class T>
    operator std::optional<T>() const {
      if (row_ == nullptr) return std::nullopt;
      return static_cast<T>(Value(*options_, *row_));
    }

   private:
    const Options* options_;
    const OptionRow* row_;
  };

  Value option(std::string_view name) const;
  MaybeValue option_if_any(std::string_view name) const;
  const Options& options() const { return *options_; }

 private:
  const Options* options_;
};

}  // namespace deberta
