// Documents that the build has read are those that the text says.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/gzip.h"
#include "base/json.h"
#include "base/packed/documents.h"
#include "base/packed/entries.h"
#include "base/toml.h"
#include "tests/catch.h"

namespace fs = std::filesystem;
using namespace rooflua;

namespace {

/// Whether two documents are equal, with their lines and kinds of numbers.
bool same(const Json& a, const Json& b) {
  if (a.kind() != b.kind() || a.line != b.line) return false;
  if (a.is_array()) {
    if (a.items().size() != b.items().size()) return false;
    for (std::size_t i = 0; i < a.items().size(); ++i)
      if (!same(a.items()[i], b.items()[i])) return false;
    return true;
  }
  if (a.is_object()) {
    if (a.members().size() != b.members().size()) return false;
    for (std::size_t i = 0; i < a.members().size(); ++i)
      if (a.members()[i].key != b.members()[i].key ||
          !same(a.members()[i].value, b.members()[i].value))
        return false;
    return true;
  }
  return dump_json(a) == dump_json(b);
}

std::vector<fs::path> shipped() {
  std::vector<fs::path> out;
  for (const char* folder : {"bench_data", "scenarios/models"})
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(ROOFLUA_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".toml") out.push_back(entry.path());
  return out;
}

}  // namespace

TEST_CASE("a packed document is what its text says, and an edited text is read anew") {
  std::vector<fs::path> files = shipped();
  REQUIRE(files.size() > 100);
  const fs::path every_kind = fs::temp_directory_path() / "rooflua_packed_test.toml";
  std::ofstream(every_kind) << "whole = -3\nlarge = 9007199254740993\nnumber = -0.0\nyes = true\n"
                               "text = \"a\\nb\"\nlist = [1, [2.5, \"\"], {x = false}]\n"
                               "[table.inner]\nempty = []\n";
  files.push_back(every_kind);
  std::vector<std::pair<std::string, Json>> by_text;
  for (const fs::path& file : files) {
    const std::string text = read_text(file);
    by_text.emplace_back(text, parse_toml(text, file.string()));
  }
  static const std::string packed = pack_documents(by_text);
  use_packed_documents(packed);
  for (const fs::path& file : files) {
    INFO(file);
    const std::string text = read_text(file);
    const auto known = packed_document(text);
    REQUIRE(known.has_value());
    CHECK(same(*known, parse_toml(text, file.string())));
    CHECK(!packed_document(text + "\n").has_value());
  }
  fs::remove(every_kind);
}

TEST_CASE("entries are found by their keys alone") {
  const std::string one(32, '1'), two(32, '2');
  const std::string bytes = Packed::pack("stamp", {{one, "first"}, {two, ""}});
  CHECK(Packed(bytes).stamp() == "stamp");
  CHECK(Packed(bytes).find(one) == "first");
  CHECK(Packed(bytes).find(two).empty());
  CHECK(Packed(bytes).find(std::string(32, '3')).empty());
  CHECK(Packed().find(one).empty());
}
