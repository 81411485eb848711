// Kind "price": what a list of batches takes, and what is said of its operations.

#include <fstream>

#include "base/json.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// A scenario that prices `batches` batches, the first of them with so many prompts.
std::string file(int batches, int prompts, const std::string& more = "") {
  const auto path = rooflua::test::scratch() / "prices.lua";
  std::ofstream(path) << "local list, prompts = {}, {}\n"
                      << "for i = 1, " << prompts << " do prompts[i] = { new_tokens = 9 } end\n"
                      << "for i = 1, " << batches << " do list[i] = { decodes = 1 + i % 9, "
                      << "decode_context_tokens = 900, prefills = i == 1 and prompts or {} } end\n"
                      << "return { rooflua = 1, kind = 'price', model = 'llama-3.1-8b', "
                      << "hardware = 'h200', price = list, " << more << " }\n";
  return path.string();
}

Said run(const std::string& arguments) {
  return rooflua::test::rooflua("run " + arguments + " 2>&1");
}

bool lists(const Said& said) {
  return contains(said.text, "\ngate_up ");
}

}  // namespace

TEST_CASE(
    "operations are listed where they can be read, or are asked for, and the text says which") {
  const std::string note = "are not listed by operation; --explain lists them";
  for (const auto& [batches, prompts] : {std::pair{3, 2}, {1001, 0}, {1, 1000}}) {
    INFO(batches << " batches, " << prompts << " prompts");
    const bool few = batches + prompts <= 1000;
    const Said said = run(file(batches, prompts));
    CHECK(said.status == 0);
    CHECK(lists(said) == few);
    CHECK(contains(said.text, note) == !few);
    const Said explained = run(file(batches, prompts) + " --explain");
    CHECK(lists(explained));
    CHECK_FALSE(contains(explained.text, note));
  }
  CHECK_FALSE(lists(run(file(2, 0, "vary = { ['deployment.tp'] = { 1, 2 } }"))));
}

TEST_CASE("whatever reads operations gets them, and the prices are the same without them") {
  const std::string out = (rooflua::test::scratch() / "prices.json").string();
  const std::string report =
      "report = function(results) return tostring(#results[1].price[2].rows) .. ' rows' end";
  CHECK(contains(run(file(1200, 0, report)).text, " rows\n"));
  const std::string plain = run(file(1200, 0) + " --quiet").text;
  CHECK(run(file(1200, 0) + " --quiet --json " + out).text == plain);
  const Json document = read_json(out);
  const Json& batches = *document.find("variants")->items()[0].find("price");
  REQUIRE(batches.items().size() == 1200);
  for (const Json& batch : batches.items()) CHECK_FALSE(batch.find("rows")->items().empty());
  const std::string kept = (rooflua::test::scratch() / "prices.sqlite").string();
  std::remove(kept.c_str());
  const std::string again = (rooflua::test::scratch() / "again.json").string();
  CHECK(run(file(1200, 0) + " --quiet --results " + kept).text == plain);
  CHECK(run(file(1200, 0) + " --quiet --results " + kept + " --json " + again).status == 0);
  CHECK(dump_json(*read_json(again).find("variants")) == dump_json(*document.find("variants")));
}

TEST_CASE(
    "a list of more operations than a document can hold is refused in words, and priced without",
    "[long]") {
  const std::string large = file(1, 300001);
  const Said explained = run(large + " --explain");
  CHECK(explained.status == 1);
  CHECK(contains(explained.text, "price: has more than 300000 operations to list, in 1 of 1"));
  CHECK(contains(explained.text, "prices.lua:"));
  CHECK(run(large).status == 0);
}

TEST_CASE("a price takes little memory where nothing reads its operations", "[long]") {
  const std::string limited = "sh -c 'ulimit -v 1000000; exec " ROOFLUA_PROGRAM " run ";
  CHECK(std::system((limited + file(50000, 0) + " --quiet > /dev/null'").c_str()) == 0);
}

TEST_CASE("what the time of a step rests on is said once") {
  const auto lines = [](const std::string& text) {
    std::size_t out = 0;
    for (const char* begin : {"\nTime rests on: ", "\nevidence  "}) {
      for (std::size_t at = text.find(begin); at != std::string::npos;
           at = text.find(begin, at + 1))
        ++out;
    }
    return out;
  };
  const std::string step = "step --model llama-3.1-8b --hardware h200 --decode 2048x64";
  CHECK(lines(rooflua::test::rooflua(step).text) == 1);
  CHECK(lines(rooflua::test::rooflua(step + " --explain").text) == 1);
  CHECK(contains(rooflua::test::rooflua(step + " --explain").text, "\ngate_up "));
  CHECK(lines(run(file(1, 0) + " --explain").text) == 1);
  CHECK(lines(run(file(3, 0) + " --explain").text) == 4);  // of each batch, and of all
}
