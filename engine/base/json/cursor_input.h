#pragma once
// Characters for nlohmann's reader, from where a cursor stands.

#include <cstddef>
#include <iterator>

namespace rooflua {

/// An input iterator whose copies share the place: a cursor has `at`, and says whether it is over.
template <class Cursor>
class CursorInput {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CursorInput() = default;  // the end
  explicit CursorInput(Cursor& cursor) : cursor_(&cursor) {}
  const char& operator*() const { return *cursor_->at; }
  CursorInput& operator++() {
    ++cursor_->at;
    return *this;
  }
  CursorInput operator++(int) { return ++*this; }
  /// Only with the end.
  bool operator==(const CursorInput&) const { return cursor_->is_over(); }

 private:
  Cursor* cursor_ = nullptr;
};

}  // namespace rooflua
