#include "base/json/simd.h"

#ifdef ROOFLUA_HAS_SIMDJSON
#include <simdjson.h>

namespace rooflua {

namespace {

namespace dom = simdjson::dom;

constexpr std::size_t most_kept = 128 << 20;  // bytes of a text, for which memory is kept

void tell(const dom::element& value, JsonBuilder& builder) {
  switch (value.type()) {
    case dom::element_type::ARRAY:
      builder.open_array();
      for (const dom::element item : dom::array(value)) tell(item, builder);
      return builder.close_array();
    case dom::element_type::OBJECT:
      builder.open_object();
      for (const auto [key, item] : dom::object(value)) {
        builder.key(std::string(key));
        tell(item, builder);
      }
      return builder.close_object();
    case dom::element_type::INT64:
      return builder.whole(std::int64_t(value));
    case dom::element_type::UINT64:
      return builder.whole(std::uint64_t(value));
    case dom::element_type::DOUBLE:
      return builder.number(double(value));
    case dom::element_type::STRING:
      return builder.text(std::string(std::string_view(value)));
    case dom::element_type::BOOL:
      return builder.add(bool(value));
    case dom::element_type::NULL_VALUE:
      return builder.add(Json());
  }
}

}  // namespace

bool has_simd_json() {
  return true;
}

std::optional<Json> read_simd_json(std::string_view text, const JsonReading& reading) {
  // Kept from text to text: the pages of a new one cost as much as the reading.
  thread_local dom::parser parser;
  dom::element document;
  if (parser.parse(text.data(), text.size()).get(document) != simdjson::SUCCESS)
    return std::nullopt;
  JsonBuilder builder(reading);
  tell(document, builder);
  if (text.size() > most_kept) parser = dom::parser();
  return builder.take();
}

}  // namespace rooflua

#else

namespace rooflua {

bool has_simd_json() {
  return false;
}

std::optional<Json> read_simd_json(std::string_view, const JsonReading&) {
  return std::nullopt;
}

}  // namespace rooflua

#endif
