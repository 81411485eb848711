#include "base/packed/documents.h"

#include <bit>
#include <cstdint>
#include <mutex>

#include "base/checksum.h"
#include "base/packed/entries.h"

namespace rooflua {

namespace {

Packed& packed() {
  static Packed documents;
  return documents;
}

/// Of the program: bytes of another order or of other kinds of values are not looked at.
const std::string stamp =
    std::string("documents 1 ") + (std::endian::native == std::endian::little ? "little" : "big");

std::string key_of(std::string_view text) {
  Checksum sum;
  sum.add(text);
  return sum.name();
}

void append_text(std::string& out, std::string_view text) {
  append_packed_number(out, text.size());
  out += text;
}

/// A value: its kind, its line, and what it holds.
void append(std::string& out, const Json& value) {
  out += static_cast<char>(value.kind());
  append_packed_number(out, static_cast<std::size_t>(value.line));
  switch (value.kind()) {
    case Json::Kind::null:
      break;
    case Json::Kind::boolean:
      out += static_cast<char>(value.boolean());
      break;
    case Json::Kind::integer:
      append_packed_number(out, static_cast<std::size_t>(value.integer()));
      break;
    case Json::Kind::number:
      append_packed_number(out, std::bit_cast<std::uint64_t>(value.number()));
      break;
    case Json::Kind::text:
      append_text(out, value.text());
      break;
    case Json::Kind::array:
      append_packed_number(out, value.items().size());
      for (const Json& each : value.items()) append(out, each);
      break;
    case Json::Kind::object:
      append_packed_number(out, value.members().size());
      for (const Json::Member& each : value.members()) {
        append_text(out, each.key);
        append(out, each.value);
      }
      break;
  }
}

/// Reads what append() wrote.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  Json value() {
    const auto kind = static_cast<Json::Kind>(byte());
    const auto line = static_cast<int>(number());
    Json out = held(kind);
    out.line = line;
    return out;
  }

 private:
  char byte() { return bytes_[at_++]; }
  std::size_t number() {
    at_ += 8;
    return packed_number_at(bytes_, at_ - 8);
  }
  std::string text() {
    const std::size_t size = number();
    at_ += size;
    return std::string(bytes_.substr(at_ - size, size));
  }
  Json held(Json::Kind kind) {
    switch (kind) {
      case Json::Kind::null:
        return {};
      case Json::Kind::boolean:
        return byte() != 0;
      case Json::Kind::integer:
        return static_cast<std::int64_t>(number());
      case Json::Kind::number:
        return std::bit_cast<double>(static_cast<std::uint64_t>(number()));
      case Json::Kind::text:
        return text();
      case Json::Kind::array:
        return array();
      case Json::Kind::object:
        return object();
    }
    return {};
  }
  Json array() {
    Json::Array items(number());
    for (Json& each : items) each = value();
    return items;
  }
  Json object() {
    Json::Object members(number());
    for (Json::Member& each : members) {
      each.key = text();
      each.value = value();
    }
    return members;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::string pack_documents(const std::vector<std::pair<std::string, Json>>& by_text) {
  std::map<std::string, std::string> entries;
  for (const auto& [text, document] : by_text) append(entries[key_of(text)] = "", document);
  return Packed::pack(stamp, entries);
}

void use_packed_documents(std::string_view bytes) {
  static std::once_flag once;
  std::call_once(once, [&] {
    const Packed documents(bytes);
    if (documents.stamp() == stamp) packed() = documents;
  });
}

std::optional<Json> packed_document(std::string_view text) {
  const std::string_view found = packed().find(key_of(text));
  if (found.empty()) return std::nullopt;
  return Reader(found).value();
}

}  // namespace rooflua
