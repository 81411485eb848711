#pragma once
// Lists of whole numbers that a document says again and again, each time with some more after.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rooflua {

/// Where a reader of a text stands. `at` says where the reader goes on.
struct TextCursor {
  const char* at = nullptr;
  const char* end = nullptr;
  bool is_over() const { return at == end; }
};

/// Packs the lists of one document, four bytes a number. Of a list whose text begins like that of
/// an earlier list, the numbers in common are taken from there, and the reader goes on after them:
/// equal bytes mean equal numbers, and the bytes before were read. Time of a list is that of the
/// reader for what is new, and that of a comparison of bytes for what is not.
///
/// The text must stay where it is, as long as lists are opened.
class PackedLists {
 public:
  /// @param cursor  of the reader; null: every list is read as a whole
  explicit PackedLists(TextCursor* cursor) : cursor_(cursor) {}

  /// The reader stands after the '[' of a list.
  void open();
  /// The reader has read a number, and the character after it.
  void add(std::int32_t value) {
    List& own = lists_[open_];
    own.numbers.push_back(value);
    if (cursor_ != nullptr) own.ends.push_back(static_cast<std::size_t>(cursor_->at - own.text));
  }
  /// The numbers of the list, until the next one is opened.
  std::string_view close() const;

 private:
  struct List {
    std::vector<std::int32_t> numbers;
    const char* text = nullptr;     // after its '['
    std::vector<std::size_t> ends;  // by number, characters of the text as far as the one after it
    std::uint64_t used = 0;         // when
  };

  std::size_t common(const List& other) const;
  std::size_t oldest() const;

  TextCursor* cursor_;
  // Requests of several contexts may take turns in a document.
  std::array<List, 4> lists_;
  std::size_t open_ = 0;
  std::uint64_t opened_ = 0;
};

}  // namespace rooflua
