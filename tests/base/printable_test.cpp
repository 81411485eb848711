// Texts that would control a terminal, break a document or differ from run to run.

#include "base/printable.h"

#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "tests/catch.h"

using namespace rooflua;

TEST_CASE("control characters and bytes that are not UTF-8 are shown as escapes") {
  CHECK(printable("plain, \xC3\xA9\xE2\x82\xAC\xF0\x9F\x9A\x80") ==
        "plain, \xC3\xA9\xE2\x82\xAC\xF0\x9F\x9A\x80");
  CHECK(printable("two\n\tlines") == "two\n\tlines");
  CHECK(printable("\x1b[31mred") == "\\x1b[31mred");
  CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\x7F") == "\\x7f");
  CHECK(printable("\xC2\x9B"
                  "2J") == "\\xc2\\x9b2J");  // CSI as one code point
  for (const char* wrong :
       {"\xFF", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    INFO(printable(wrong));
    CHECK(!is_plain(wrong));
    CHECK(printable(wrong).find("\\x") == 0);
    CHECK(valid_utf8(wrong).find("\xEF\xBF\xBD") == 0);
  }
  CHECK(is_plain("caf\xC3\xA9"));
  CHECK(!is_plain("two\nlines"));
  CHECK(is_plain(""));
}

TEST_CASE("what is printed of random bytes is plain, and what is plain stays") {
  RandomStream dice = random_stream(7, "bytes");
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (int j = 0; j < 12; ++j) text += static_cast<char>(uniform_integer(dice, 0, 255));
    const std::string shown = printable(text);
    std::string line = shown;
    std::erase_if(line, [](char c) { return c == '\n' || c == '\t'; });
    REQUIRE(is_plain(line));
    REQUIRE(printable(shown) == shown);
    REQUIRE(valid_utf8(valid_utf8(text)) == valid_utf8(text));
    REQUIRE(parse_json(dump_json(Json(text)), "text").text() == valid_utf8(text));
  }
}

TEST_CASE("addresses of Lua's objects are left out") {
  CHECK(without_addresses("found table: 0x7fa415661cc8, and") == "found table, and");
  CHECK(without_addresses("function: 0x55854fe7cd00") == "function");
  CHECK(without_addresses("key: 0x10") == "key: 0x10");
  CHECK(without_addresses("my table: 0x1") == "my table: 0x1");
}

TEST_CASE("an error's text is printable and has no address") {
  CHECK(std::string(Error("a.lua:1", "found '\x1b[2J'").what()) == "a.lua:1: found '\\x1b[2J'");
  CHECK(std::string(Error("", "table: 0x7fa415661cc8\nfurther").what()) == "table\nfurther");
}

TEST_CASE("a name of thousands of letters is cut, and a path is not") {
  const std::string name(5000, 'x');
  const std::string cut = with_short_names("unknown model '" + name + "' (known: a, b)");
  CHECK(cut.size() < 320);
  CHECK(cut.starts_with("unknown model 'xxx"));
  CHECK(cut.ends_with("xxx' (known: a, b)"));
  CHECK(cut.find("x...x") != std::string::npos);
  CHECK(with_short_names(cut) == cut);
  std::string path;
  for (int i = 0; i < 40; ++i) path += "/" + std::string(255, 'p');
  CHECK(with_short_names(path) == path);
  CHECK(with_short_names(std::string(300, 'x')) == std::string(300, 'x'));
  CHECK(with_short_names(std::string(301, 'x')).size() == 263);
  CHECK(with_short_names("") == "");
  CHECK(with_short_names(" a\n") == " a\n");
  CHECK(std::string(Error("a.lua:1", name).what()).size() < 280);
}

TEST_CASE("a cut name stays UTF-8") {
  std::string name;
  for (int i = 0; i < 400; ++i) name += "\xE2\x82\xAC";
  CHECK(is_plain(with_short_names(name)));
  CHECK(is_plain(with_short_names("a" + name)));
  CHECK(is_plain(with_short_names("ab" + name + "c")));
  CHECK(with_short_names(std::string(400, '\x80')) == "...");
}
