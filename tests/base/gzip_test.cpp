// Packed files are read as their text, and a broken one is named.

#include "base/gzip.h"

#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;
namespace fs = std::filesystem;

namespace {

fs::path written(const std::string& name, const std::string& text) {
  const fs::path path = test::scratch() / name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

fs::path packed(const std::string& name, const std::string& text) {
  const fs::path plain = written(name, text);
  REQUIRE(std::system(("gzip -nf '" + plain.string() + "'").c_str()) == 0);
  return plain.string() + ".gz";
}

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a packed file reads as its text, of any length and of several parts") {
  std::string text;
  for (long i = 0; i < 50000; ++i) text += std::to_string(i * i) + "\n";
  CHECK(read_text(packed("long.csv", text)) == text);
  CHECK(read_text(packed("empty.csv", "")).empty());
  const std::string two = bytes_of(packed("a.csv", "one\n")) + bytes_of(packed("b.csv", "two\n"));
  CHECK(read_text(written("both.csv.gz", two)) == "one\ntwo\n");
  CHECK(read_text(written("plain.csv", "one\n")) == "one\n");
  CHECK(read_text_start(packed("long.csv", text), 4) == "0\n1\n");
  CHECK(read_text_start(written("plain.csv", "one\n"), 2) == "on");
}

TEST_CASE("a text that is too long is refused, packed or plain, in one part or in several") {
  const std::string mib(1 << 20, 'x');
  const fs::path part = packed("part.csv", mib);
  CHECK(read_text(part, mib.size()) == mib);
  const fs::path parts = written("parts.csv.gz", bytes_of(part) + bytes_of(part));
  CHECK_THROWS_WITH(read_text(part, mib.size() - 1),
                    ContainsSubstring("part.csv.gz") && ContainsSubstring("when it is unpacked"));
  CHECK_THROWS_WITH(read_text(parts, mib.size()),
                    ContainsSubstring("more than 1 MiB of text when it is unpacked"));
  CHECK_THROWS_WITH(read_text(written("plain.csv", mib + "x"), mib.size()),
                    ContainsSubstring("plain.csv: has more than 1 MiB of text; divide"));
  CHECK(read_text_start(parts, 3) == "xxx");
  // 1,024 parts of 1 MiB each in 1 MB: a GiB of text, as callers read it.
  std::string bomb;
  for (int i = 0; i < 1024; ++i) bomb += bytes_of(part);
  CHECK_THROWS_WITH(read_text(written("bomb.csv.gz", bomb)), ContainsSubstring("128 MiB"));
}

TEST_CASE("a truncated, damaged or foreign packed file is an error that names it") {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * 7919) + ",";
  const std::string whole = bytes_of(packed("whole.csv", text));
  for (const std::size_t size :
       {std::size_t{3}, std::size_t{12}, whole.size() / 2, whole.size() - 1}) {
    INFO(size);
    const fs::path cut = written("cut.csv.gz", whole.substr(0, size));
    CHECK_THROWS_WITH(read_text(cut),
                      ContainsSubstring("cut.csv.gz") && ContainsSubstring("truncated"));
  }
  std::string damaged = whole;
  damaged[whole.size() / 2] = static_cast<char>(damaged[whole.size() / 2] ^ 0x55);
  damaged[whole.size() - 6] = static_cast<char>(damaged[whole.size() - 6] ^ 0x55);
  CHECK_THROWS_WITH(read_text(written("damaged.csv.gz", damaged)),
                    ContainsSubstring("damaged.csv.gz") && ContainsSubstring("copy it again"));
  CHECK_THROWS_WITH(read_text(written("text.csv.gz", "m,k,n\n1,2,3\n")),
                    ContainsSubstring("text.csv.gz") && ContainsSubstring("not a gzip file"));
  CHECK_THROWS_WITH(read_text(written("nothing.csv.gz", "")), ContainsSubstring("not a gzip file"));
  CHECK_THROWS_WITH(read_text(test::scratch() / "missing.csv.gz"),
                    ContainsSubstring("missing.csv.gz"));
}
