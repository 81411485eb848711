// Config files of public models, cut down to their figures:
// tests/fixtures/models/public_configs.json has a row for each with its source, its number of
// parameters and the KV bytes of one token.

#include <cmath>
#include <set>

#include "base/error.h"
#include "spec/model.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

const auto folder = test::source_dir() / "tests" / "fixtures" / "models";

Model read(const Json& config) {
  return model_from_document(config, "mine", "config.json",
                             {test::source_dir() / "scripts" / "layers"});
}

double figure(const Json& row, const char* key) {
  const Json* found = row.find(key);
  REQUIRE(found != nullptr);
  return found->number();
}

const std::string& text(const Json& row, const char* key) {
  return row.find(key)->text();
}

}  // namespace

TEST_CASE("public configs have the parameters that are published and the cache of their class") {
  const Json rows = read_json(folder / "public_configs.json");
  CHECK(rows.items().size() >= 150);
  std::set<std::string> names;
  for (const Json& row : rows.items()) {
    INFO(text(row, "name") << ", " << text(row, "source"));
    names.insert(text(row, "name"));
    const Model model = read(*row.find("config"));
    CHECK(model.parameters() == Approx(figure(row, "parameters")).epsilon(0.005));
    CHECK(model.kv_bytes_per_token(Dtype::bf16).in_base_units() == figure(row, "kv_bytes"));
    for (const ModelNote& note : model.notes) {
      INFO(note.text);
      CHECK(note.text.find("not followed") == std::string::npos);
      CHECK(note.text.find("not known") == std::string::npos);
    }
  }
  CHECK(names.size() == rows.items().size());
}

TEST_CASE("a config with one other value is the model of that value, or an error that names it") {
  const Json rows = read_json(folder / "public_configs.json");
  const Json changes = read_json(folder / "changed_configs.json");
  CHECK(changes.items().size() >= 500);
  int errors = 0;
  for (const Json& change : changes.items()) {
    const auto index = static_cast<std::size_t>(figure(change, "row"));
    Json config = *rows.items().at(index).find("config");
    const std::string& key = text(change, "key");
    const Json* table = change.find("table");
    (table != nullptr ? config[table->text()] : config)[key] = *change.find("value");
    INFO(text(rows.items()[index], "name") << ": " << dump_json(change));
    try {
      const Model model = read(config);
      CHECK(model.parameters() == Approx(figure(change, "parameters")).epsilon(0.005));
      CHECK(model.kv_bytes_per_token(Dtype::bf16).in_base_units() == figure(change, "kv_bytes"));
    } catch (const Error& error) {
      INFO(error.what());
      CHECK(std::string(error.what()).find(key) != std::string::npos);
      ++errors;
    }
  }
  CHECK(errors < static_cast<int>(changes.items().size()) / 4);
}
