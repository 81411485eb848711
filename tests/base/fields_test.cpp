#include "base/fields.h"

#include <functional>

#include "base/error.h"
#include "base/toml.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

std::string problem_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("fields are read by type") {
  const Json document =
      parse_toml("a = 1\nb = 2.5\nc = true\nd = \"x\"\ne = [\"p\", \"q\"]\nf = 16.0\n", "a.toml");
  const Fields fields(document, "a.toml");
  CHECK(fields.integer("a") == 1);
  CHECK(fields.number("a") == 1.0);
  CHECK(fields.number("b") == 2.5);
  CHECK(fields.boolean("c") == true);
  CHECK(fields.text("d") == "x");
  CHECK(fields.texts("e") == std::vector<std::string>{"p", "q"});
  CHECK(fields.integer("f") == 16);
  CHECK_FALSE(fields.number("absent"));
  CHECK_NOTHROW(fields.finish());
}

TEST_CASE("a wrong type is named by file, line and key path") {
  const Json document = parse_toml("top = 1\n[peaks]\nbf16 = \"989\"\nsms = 1.5\n", "h.toml");
  const Fields fields(document, "h.toml");
  const Fields peaks = fields.need_table("peaks");
  CHECK(problem_of([&] { peaks.number("bf16"); }) ==
        "h.toml:3: peaks.bf16: expected a number, found text \"989\"");
  CHECK(problem_of([&] { peaks.integer("sms"); }) ==
        "h.toml:4: peaks.sms: expected a whole number, found number 1.5");
  CHECK(problem_of([&] { peaks.need_number("fp8"); }) ==
        "h.toml:2: peaks.fp8: is missing; expected a number");
  CHECK(problem_of([&] { fields.need_table("top"); }) ==
        "h.toml:1: top: expected a table, found number 1");
}

TEST_CASE("a key that was never read is an error with a suggestion") {
  const Json document = parse_toml("hidden_size = 1\nhiden_size = 2\n", "m.toml");
  const Fields fields(document, "m.toml");
  fields.integer("hidden_size");
  fields.integer("layers");
  CHECK(problem_of([&] { fields.finish(); }) ==
        "m.toml:2: unknown key 'hiden_size'; did you mean 'hidden_size'? (known: hidden_size, "
        "layers)");
}

TEST_CASE("null counts as absent, and the first spelling present wins") {
  const Json document =
      parse_json(R"({"q_lora_rank": null, "num_kv_heads": 4, "heads": 8})", "c.json");
  const Fields fields(document, "c.json");
  CHECK_FALSE(fields.integer("q_lora_rank"));
  CHECK(fields.first_of({"num_key_value_heads", "num_kv_heads", "heads"}) == "num_kv_heads");
  CHECK(fields.first_of({"x", "y"}).empty());
}

TEST_CASE("a whole number beyond 32 bits is refused where an int is wanted") {
  const Json document = parse_json(R"({"layers": 3000000000})", "c.json");
  const Fields fields(document, "c.json");
  CHECK(fields.integer("layers") == 3000000000);
  CHECK(problem_of([&] { fields.need_integer("layers"); }).find("c.json: layers: ") == 0);
}
