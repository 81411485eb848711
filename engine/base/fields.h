#pragma once
// Reads the members of one object of a user's document by name, with errors such as
//
//     hardware.toml:12: peak_tflop_per_s.bf16: expected a number, found text "989"
//     model.toml:4: unknown key 'hiden_size'; did you mean 'hidden_size'? (known: ...)

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace rooflua {

/// A view of one object, which must outlive the view. Every key that is read becomes a known key;
/// finish() reports the keys that were never read. A key whose value is null counts as absent.
class Fields {
 public:
  /// @param file  stands for the document in messages
  /// @param path  key path of this object in the document, "" for the whole
  /// @throws Error if `object` is not an object
  Fields(const Json& object, std::string file, std::string path = "");

  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// The first of several spellings that is present; "" if none is.
  std::string_view first_of(std::initializer_list<std::string_view> keys) const;
  /// The value of any kind; null pointer if it is absent.
  const Json* find(std::string_view key) const;

  /// The value, or nothing if it is absent. integer() also accepts 16.0.
  /// @throws Error if the value is of another kind
  std::optional<double> number(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<int> small_integer(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  /// The same with a value for a key that is not there. (GCC 14 at -O3 makes of value_or of such an
  /// optional a bool that is neither true nor false.)
  bool boolean(std::string_view key, bool otherwise) const;
  std::optional<std::string> text(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;  // absent: empty
  std::optional<Fields> table(std::string_view key) const;
  /// The items of a list, whose errors are at "key[2]". Absent: empty, and so is an empty table,
  /// as which Lua hands over an empty list.
  std::vector<double> numbers(std::string_view key) const;
  std::vector<Fields> tables(std::string_view key) const;

  /// As above for a required key. @throws Error also if it is absent
  double need_number(std::string_view key) const;
  int need_integer(std::string_view key) const;
  std::string need_text(std::string_view key) const;
  Fields need_table(std::string_view key) const;

  /// Marks a key as known without reading it.
  void allow(std::string_view key) const { find(key); }
  /// @throws Error for a key that was never read, with suggestions
  void finish() const;
  /// The members that were never read, in the order of the document.
  std::vector<const Json::Member*> unread() const;

  /// The keys that were read and are not there.
  std::vector<std::string> missed() const;

  /// "file:line: path.key", for the caller's own errors.
  std::string where(std::string_view key) const;
  const Json& object() const { return *object_; }

 private:
  const Json::Array& items(std::string_view key, std::string_view expected) const;
  [[noreturn]] void mismatch(std::string_view key, const Json& found, std::string_view expected,
                             std::size_t item = 0) const;
  [[noreturn]] void missing(std::string_view key, std::string_view expected) const;

  const Json* object_;
  std::string file_;
  std::string path_;
  mutable std::vector<std::string> asked_;
};

}  // namespace rooflua
