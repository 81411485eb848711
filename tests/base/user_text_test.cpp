// A user's file is read in any Unicode encoding, packed or not; every other kind is named in one
// line.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/user/json_documents.h"
#include "base/user/text.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;
namespace fs = std::filesystem;

namespace {

const std::string text = "{\"name\": \"caf\xC3\xA9 \xF0\x9F\x98\x80\", \"n\": 1}\n";

std::string in_units(const std::string& utf8, std::size_t unit, bool big, bool mark) {
  std::string out;
  const auto add = [&](std::uint32_t code) {
    for (std::size_t i = 0; i < unit; ++i) {
      const std::size_t shift = 8 * (big ? unit - 1 - i : i);
      out += static_cast<char>(code >> shift & 0xFF);
    }
  };
  if (mark) add(0xFEFF);
  for (std::size_t i = 0; i < utf8.size();) {
    const auto lead = static_cast<unsigned char>(utf8[i]);
    const std::size_t bytes = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    std::uint32_t code = bytes == 1 ? lead : lead & (0xFFu >> (bytes + 1));
    for (std::size_t k = 1; k < bytes; ++k)
      code = code << 6 | (static_cast<unsigned char>(utf8[i + k]) & 0x3Fu);
    i += bytes;
    if (unit == 2 && code >= 0x10000) {
      add(0xD800 + ((code - 0x10000) >> 10));
      add(0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
      add(code);
    }
  }
  return out;
}

std::string complaint(const std::string& bytes) {
  try {
    user_text(bytes, "f.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was wrong";
}

}  // namespace

TEST_CASE(
    "UTF-8, UTF-16 and UTF-32 of either byte order are the same text, with a mark or without") {
  CHECK(user_text(text, "f") == text);
  CHECK(user_text("\xEF\xBB\xBF" + text, "f") == text);
  for (const std::size_t unit : {2u, 4u})
    for (const bool big : {false, true})
      for (const bool mark : {false, true}) {
        INFO(unit << (big ? " big" : " little") << (mark ? " mark" : ""));
        CHECK(user_text(in_units(text, unit, big, mark), "f") == text);
      }
}

TEST_CASE("damaged UTF-16 is named, and so is text in no Unicode encoding") {
  CHECK_THAT(complaint(in_units(text, 2, false, true) + "x"),
             ContainsSubstring("UTF-16: it ends inside a character"));
  CHECK_THAT(complaint(std::string("\xFF\xFE\x00\xD8{\0", 6)),
             ContainsSubstring("UTF-16: no character at byte 2"));
  CHECK_THAT(complaint("{\n\"a\": \"caf\xE9\"}"),
             ContainsSubstring("f.json:2: is not UTF-8 (byte 0xE9)") && ContainsSubstring("iconv"));
  CHECK_THAT(complaint("+/v8-"), ContainsSubstring("UTF-7"));
}

TEST_CASE("a file packed with gzip is read, whatever it is called") {
  const fs::path plain = test::scratch() / "packed.json";
  std::ofstream(plain, std::ios::binary) << in_units(text, 2, false, true);
  REQUIRE(std::system(("gzip -nf '" + plain.string() + "'").c_str()) == 0);
  CHECK(read_user_text(plain.string() + ".gz") == text);
  fs::rename(plain.string() + ".gz", plain);
  CHECK(read_user_text(plain) == text);
  const fs::path named = test::scratch() / "plain.json.gz";
  std::ofstream(named, std::ios::binary) << text;
  CHECK(read_user_text(named) == text);
  std::ifstream in(plain, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  CHECK_THAT(complaint(bytes.substr(0, bytes.size() / 2)), ContainsSubstring("truncated"));
}

TEST_CASE("files that are no text are named with the way on") {
  const std::pair<std::string, const char*> all[] = {
      {"\x28\xB5\x2F\xFD$", "packed with zstd; unpack it with unzstd"},
      {std::string("\xFD\x37zXZ\0", 6), "packed with xz"},
      {"BZh91AY&SY", "packed with bzip2"},
      {"PK\x03\x04\x14", "a zip archive"},
      {"PAR1\x15\x04", "a Parquet file"},
      {"\x80\x04\x95", "a pickle of Python"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2\n", "git lfs pull"},
      {"/annex/objects/SHA256E-s1--1\n", "git annex get"},
      {"\n<!DOCTYPE html><html>", "a page of the web (HTML)"},
      {"<html><head>", "a page of the web (HTML)"},
      {"<?xml version=\"1.0\"?>", "XML"},
      {"404: Not Found", "a server that has no such file"},
      {std::string(257, 'a') + "ustar", "a tar archive"}};
  for (const auto& [bytes, words] : all) {
    INFO(words);
    CHECK_THAT(complaint(bytes), StartsWith("f.json") && ContainsSubstring(words));
  }
}

TEST_CASE("bytes of zero are an error, with another message where they are the end of the file") {
  CHECK_THAT(complaint(text + std::string(100, '\0')),
             ContainsSubstring("f.json:2: ends with 100 bytes of zero"));
  CHECK_THAT(complaint("{\"a\":\n" + std::string(1, '\0') + "1}"),
             ContainsSubstring("f.json:2: holds bytes of zero"));
}

TEST_CASE("documents below each other are read in any layout, with their lines") {
  for (const char* two : {"{\"a\": 1}\n{\"a\": 2}\n", "{\"a\":1}{\"a\":2}",
                          "{\n\"a\": 1\n}\n\n{\n\"a\": 2\n}", "\x1E{\"a\":1}\n\x1E{\"a\":2}\n"}) {
    INFO(two);
    const auto documents = parse_json_documents(two, "f");
    REQUIRE(documents.size() == 2);
    CHECK(documents[1].value.find("a")->integer() == 2);
  }
  CHECK(parse_json_documents("{\n\"a\": 1\n}\n\n{}", "f")[1].line == 5);
  CHECK(parse_json_documents(" \n", "f").empty());
  const std::pair<const char*, const char*> wrong[] = {
      {"{\"a\": 1}\n{\"a\": \n", "f:2: the document that begins here has no end"},
      {"{\"a\": 1},\n{\"a\": 2}", "f:1: expected the next document, found a comma"},
      {"{\"a\": 1}\n\n{\"a\":\n 1x}", "f:4"},
      {"{\"a\": 1}\nnote\n", "f:2"},
      {"{\"a\": 1}}", "f:1"},
      {"{\"a\": 1, \"a\": 2}", "the key 'a' occurs twice"}};
  for (const auto& [given, words] : wrong) {
    INFO(given);
    CHECK_THROWS_WITH(parse_json_documents(given, "f"), ContainsSubstring(words));
  }
}

TEST_CASE("Python's words for numbers are numbers outside of texts, and places stay right") {
  const Json read =
      parse_json("{\"a\": Infinity, \"b\": [-Infinity, NaN], \"c\": \"NaN \\\" Infinity\"}", "f",
                 NumberWords::of_python);
  CHECK(std::isinf(read.find("a")->number()));
  CHECK(read.find("b")->items()[0].number() < 0);
  CHECK(std::isnan(read.find("b")->items()[1].number()));
  CHECK(read.find("c")->text() == "NaN \" Infinity");
  CHECK_THROWS_WITH(parse_json("{\"a\": NaN, \"b\": x}", "f", NumberWords::of_python),
                    StartsWith("f:1:17"));
  CHECK_THROWS(parse_json("{\"a\": NaN}", "f"));
}
