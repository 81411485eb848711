#include "base/json/packed_lists.h"

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

using Numbers = std::vector<std::int32_t>;

Numbers unpacked(std::string_view packed) {
  Numbers out(packed.size() / sizeof(std::int32_t));
  std::memcpy(out.data(), packed.data(), packed.size());
  return out;
}

/// Reads the rest of a list as a reader does: it tells a number when it has seen what follows it.
void read(TextCursor& cursor, PackedLists& lists) {
  std::int32_t value = 0;
  bool digits = false;
  while (cursor.at != cursor.end) {
    const char c = *cursor.at++;
    if (c >= '0' && c <= '9') {
      value = 10 * value + (c - '0');
      digits = true;
      continue;
    }
    if (digits) lists.add(value);
    value = 0;
    digits = false;
    if (c == ']') return;
  }
}

/// The document with packed arrays at "k"; @throws Error where they are refused
Json packed(const Json& value, bool at_key = false) {
  if (value.is_array() && at_key) {
    std::string out;
    for (const Json& each : value.items()) {
      const double number = each.is_number() ? each.number() : -1;
      if (!(number >= 0 && number <= 2147483647.0) || std::floor(number) != number)
        throw Error("a.json", "k: expected whole numbers from 0 to 2147483647");
      const auto whole = static_cast<std::int32_t>(number);
      out.append(reinterpret_cast<const char*>(&whole), sizeof whole);
    }
    return out;
  }
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& each : value.items()) out.push_back(packed(each));
    return out;
  }
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (const Json::Member& each : value.members())
    out[each.key] = packed(each.value, each.key == "k");
  return out;
}

template <class Read>
std::string outcome(Read read) {
  try {
    return dump_json(read());
  } catch (const Error& error) {
    return error.what();
  }
}

/// Lists that go on with one of the lists before, as prompts do.
std::string random_document(std::mt19937& draws) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(draws() % n); };
  static const std::vector<std::string> commas{",", ", ", " ,", " ,\t", ",\r\n"};
  const std::string comma = commas[below(commas.size())];
  std::vector<Numbers> lists;
  std::string out = "{\"all\": [";
  const std::size_t count = 1 + below(12);
  for (std::size_t i = 0; i < count; ++i) {
    Numbers list =
        i > 0 && below(5) > 0 ? lists[i - 1 - below(std::min<std::size_t>(i, 6))] : Numbers{};
    if (below(3) == 0) list.resize(below(list.size() + 1));
    for (std::size_t more = below(4); more > 0; --more)
      list.push_back(static_cast<std::int32_t>(below(below(2) == 0 ? 12 : 2147483647)));
    out += i > 0 ? ", {\"k\": [" : "{\"k\": [";
    for (std::size_t j = 0; j < list.size(); ++j)
      out += (j > 0 ? (below(30) == 0 ? commas[below(commas.size())] : comma) : "") +
             std::to_string(list[j]) + (below(60) == 0 ? ".0" : "");
    out += below(3) == 0 ? "], \"x\": [1, 2]}" : "]}";
    lists.push_back(list);
  }
  return out + "]}";
}

void damage(std::mt19937& draws, std::string& text) {
  static const std::string characters = "0123456789,,,]][[{}\" .-e";
  const std::size_t at = draws() % text.size();
  const char c = characters[draws() % characters.size()];
  switch (draws() % 3) {
    case 0:
      text[at] = c;
      break;
    case 1:
      text.insert(at, 1, c);
      break;
    default:
      text.erase(at, 1 + draws() % 3);
  }
}

}  // namespace

TEST_CASE("a list that begins like an earlier one is read from the last number in common on") {
  const std::string text = " 1, 22, 333, 4] 1, 22, 333, 5, 6] 1, 22, 333, 5, 6, 7] 9]";
  TextCursor cursor{text.data(), text.data() + text.size()};
  PackedLists lists(&cursor);
  const auto skipped = [&] {
    const char* before = cursor.at;
    lists.open();
    const std::string out(before, cursor.at);
    read(cursor, lists);
    return out;
  };
  CHECK(skipped().empty());
  CHECK(unpacked(lists.close()) == Numbers{1, 22, 333, 4});
  CHECK(skipped() == " 1, 22,");
  CHECK(unpacked(lists.close()) == Numbers{1, 22, 333, 5, 6});
  CHECK(skipped() == " 1, 22, 333,");
  CHECK(unpacked(lists.close()) == Numbers{1, 22, 333, 5, 6, 7});
  CHECK(skipped().empty());
  CHECK(unpacked(lists.close()) == Numbers{9});
}

TEST_CASE("lists of several contexts that take turns are found again") {
  std::string text;
  for (int turn = 1; turn <= 20; ++turn) {
    for (int context = 1; context <= 4; ++context) {
      for (int i = 1; i <= 10 * turn; ++i) text += std::to_string(1000 * context + i) + ",";
      text.back() = ']';
    }
  }
  TextCursor cursor{text.data(), text.data() + text.size()};
  PackedLists lists(&cursor);
  std::size_t read_again = 0;
  for (int turn = 1; turn <= 20; ++turn) {
    for (int context = 1; context <= 4; ++context) {
      lists.open();
      const char* from = cursor.at;
      read(cursor, lists);
      read_again += static_cast<std::size_t>(cursor.at - from);
      Numbers expected;
      for (int i = 1; i <= 10 * turn; ++i) expected.push_back(1000 * context + i);
      REQUIRE(unpacked(lists.close()) == expected);
    }
  }
  CHECK(read_again <= 20 * 4 * 12 * 5);  // ten new numbers, and two of those before
}

TEST_CASE("what lists have in common changes neither the document nor an error") {
  std::mt19937 draws(11);
  int refused = 0, syntax = 0, whole = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string text = random_document(draws);
    if (draws() % 2 == 0) damage(draws, text);
    CAPTURE(text);
    const std::string plain = outcome([&] { return parse_json(text, "a.json"); });
    const std::string expected = outcome([&] { return packed(parse_json(text, "a.json")); });
    const std::string found = outcome([&] { return parse_json_packed(text, "a.json", "k"); });
    const bool is_syntax = plain.starts_with("a.json");
    // A list is refused where it stands, in front of bad syntax after it.
    if (is_syntax && found == "a.json: k: expected whole numbers from 0 to 2147483647") {
      ++refused;
      continue;
    }
    REQUIRE(found == expected);
    ++(is_syntax ? syntax : whole);
  }
  CHECK(refused > 100);
  CHECK(syntax > 1000);
  CHECK(whole > 10000);
}
