#include "base/packed/entries.h"

#include <cstdint>
#include <cstring>

namespace rooflua {

namespace {

constexpr std::size_t key_bytes = 32, number_bytes = 8;
constexpr std::size_t entry_bytes = key_bytes + 2 * number_bytes;

}  // namespace

void append_packed_number(std::string& out, std::size_t number) {
  const std::uint64_t wide = number;
  char bytes[number_bytes];
  std::memcpy(bytes, &wide, number_bytes);
  out.append(bytes, number_bytes);
}

std::size_t packed_number_at(std::string_view bytes, std::size_t place) {
  std::uint64_t wide = 0;
  std::memcpy(&wide, bytes.data() + place, number_bytes);
  return static_cast<std::size_t>(wide);
}

Packed::Packed(std::string_view bytes) : bytes_(bytes) {
  if (bytes.empty()) return;
  const std::size_t length = packed_number_at(bytes, 0);
  stamp_ = bytes.substr(number_bytes, length);
  count_ = packed_number_at(bytes, number_bytes + length);
  first_ = 2 * number_bytes + length;
}

std::size_t Packed::place(std::size_t entry) const {
  return first_ + entry * entry_bytes;
}

std::string_view Packed::find(std::string_view key) const {
  std::size_t low = 0, high = count_;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const std::string_view found = bytes_.substr(place(middle), key_bytes);
    if (found == key) {
      const std::size_t at = place(middle) + key_bytes;
      return bytes_.substr(packed_number_at(bytes_, at),
                           packed_number_at(bytes_, at + number_bytes));
    }
    (found < key ? low : high) = found < key ? middle + 1 : middle;
  }
  return {};
}

std::string Packed::pack(const std::string& stamp,
                         const std::map<std::string, std::string>& entries) {
  std::string out;
  append_packed_number(out, stamp.size());
  out += stamp;
  append_packed_number(out, entries.size());
  std::size_t begin = out.size() + entries.size() * entry_bytes;
  for (const auto& [key, bytes] : entries) {
    out += key;
    append_packed_number(out, begin);
    append_packed_number(out, bytes.size());
    begin += bytes.size();
  }
  for (const auto& [key, bytes] : entries) out += bytes;
  return out;
}

}  // namespace rooflua
