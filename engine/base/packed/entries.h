#pragma once
// Entries by key in one run of bytes, as the build puts them into the programs.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace rooflua {

void append_packed_number(std::string& out, std::size_t number);
/// @param place  of bytes that append_packed_number() wrote
std::size_t packed_number_at(std::string_view bytes, std::size_t place);

/// The text of a stamp after its length, the number of entries, then for each its key, where it
/// begins and how long it is, in the order of keys; then all entries. A key is a Checksum's name().
class Packed {
 public:
  Packed() = default;
  /// @param bytes  of pack(); they live as long as this; empty: nothing
  explicit Packed(std::string_view bytes);
  /// What the entries hold for: others are not looked at.
  std::string_view stamp() const { return stamp_; }
  /// Empty if there is none.
  std::string_view find(std::string_view key) const;

  static std::string pack(const std::string& stamp,
                          const std::map<std::string, std::string>& entries);

 private:
  std::size_t place(std::size_t entry) const;
  std::string_view bytes_, stamp_;
  std::size_t count_ = 0, first_ = 0;
};

}  // namespace rooflua
