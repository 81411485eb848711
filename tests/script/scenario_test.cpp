#include "script/scenario.h"

#include <fstream>

#include "script/vm/stack.h"
#include "tests/scratch.h"
#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// A scenario file in a folder of its own for policies, removed at the end of the test.
class File {
 public:
  explicit File(const std::string& text) : folder_(rooflua::test::scratch() / "scenario") {
    std::filesystem::create_directories(folder_);
    std::ofstream(path()) << text;
  }
  ~File() { std::filesystem::remove_all(folder_); }
  void add(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  std::filesystem::path path() const { return folder_ / "s.lua"; }

 private:
  std::filesystem::path folder_;
};

/// A scenario whose step model takes one second per token and ten seconds of overhead.
const std::string flat = R"(
local policy, cost = require "rooflua.policy", require "rooflua.cost"
local Flat = policy.define { name = "flat", doc = "Flat.", params = {
  token_s = { default = 1.0, unit = "s", min = 0, doc = "Per token." },
  divisor = { default = 1.0, min = 0.1, doc = "Divides." } } }
function Flat:bind(context) self.layers = context.model.layers end
function Flat:time(batch)
  return cost.record("tokens", batch.tokens * self.token_s, "measured") / self.divisor
    + cost.record("overhead", 10, "assumed")
end
function Flat:static(args) return { layers = self.layers, values = { twice = 2 * (args.x or 1) } } end
)";
std::string scenario(const std::string& more) {
  return flat +
         "return { rooflua = 1, kind = 'price', model = 'llama-3.1-8b', hardware = 'h200-sxm', "
         "steps = Flat {},\n"
         "  price = { { name = 'ten', decodes = 10, decode_context_tokens = 100 }, { prefills = { "
         "{ new_tokens = 20 } } } },\n" +
         more + " }";
}

std::vector<script::VariantResult> run_all(const std::string& text,
                                           const script::ScenarioOptions& options = {}) {
  const File file(text);
  script::Vm vm(sandbox_options());
  script::Scenario opened(vm, file.path(), options);
  std::vector<script::VariantResult> results;
  for (std::size_t i = 0; i < opened.variants().size(); ++i)
    results.push_back(opened.run(i, false));
  return results;
}

std::string trouble_of(const std::string& text, const script::ScenarioOptions& options = {}) {
  try {
    run_all(text, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

double time_of(const script::VariantResult& result, std::size_t batch) {
  return result.document.find("price")->items()[batch].find("time_s")->number();
}

}  // namespace

TEST_CASE("a scenario of kind price gives each batch its time and the shares of evidence") {
  const auto results = run_all(scenario(""));
  REQUIRE(results.size() == 1);
  CHECK(time_of(results[0], 0) == 20);
  CHECK(time_of(results[0], 1) == 30);
  // measured 10 of 20 and 20 of 30: 30 of 50 seconds
  CHECK(results[0].evidence[static_cast<int>(Evidence::measured)] == Approx(0.6));
  CHECK(results[0].evidence[static_cast<int>(Evidence::assumed)] == Approx(0.4));
  CHECK(script::doubtful_percent(results[0].evidence) == Approx(40));
  CHECK(has(results[0].text, "ten"));
}

TEST_CASE("vary makes one variant per combination, sorted by key, the last fastest") {
  const File file(
      scenario("vary = { ['steps.token_s'] = { 1, 2 }, ['steps.divisor'] = { 1, 2 } },"));
  script::Vm vm(sandbox_options());
  script::Scenario opened(vm, file.path());
  REQUIRE(opened.variants().size() == 4);
  CHECK(opened.variants()[0].name == "divisor=1, token_s=1");
  CHECK(opened.variants()[1].name == "divisor=1, token_s=2");
  CHECK(opened.variants()[3].parameters.find("steps.divisor")->number() == 2);
  CHECK(time_of(opened.run(1, false), 0) == 30);
  CHECK(time_of(opened.run(2, false), 0) == 15);
  CHECK(time_of(opened.run(0, false), 0) == 20);  // the order of runs does not matter
}

TEST_CASE("--set reaches every declared parameter and nothing else") {
  script::ScenarioOptions options;
  options.set = {"steps.token_s=3", "seed=7"};
  CHECK(time_of(run_all(scenario(""), options)[0], 0) == 40);
  options.set = {"steps.token=3"};
  CHECK(
      has(trouble_of(scenario(""), options), "unknown parameter 'token'; did you mean 'token_s'"));
  options.set = {"step.token_s=3"};
  CHECK(has(trouble_of(scenario(""), options), "did you mean 'steps'"));
  options.set = {"nonsense"};
  CHECK(has(trouble_of(scenario(""), options), "expected key=value"));
  options.set = {"deployment.tp=2"};
  CHECK(time_of(run_all(scenario(""), options)[0], 0) == 20);
  options.set = {"deployment.tp=zwei"};
  CHECK(has(trouble_of(scenario(""), options), "tp: expected a number, found text \"zwei\""));
  options.set = {"steps=kernels"};
  CHECK(time_of(run_all(scenario(""), options)[0], 0) < 1);
}

TEST_CASE("a kind static scenario gives the step model's own report") {
  const auto results = run_all(scenario("static = { x = 21 },") + "\n", [] {
    script::ScenarioOptions options;
    options.set = {"kind=static"};
    return options;
  }());
  CHECK(results[0].document.find("static")->find("layers")->number() == 32);
  CHECK(results[0].document.find("static")->find("values")->find("twice")->number() == 42);
}

TEST_CASE("every mistake in a scenario names the file and the key") {
  const auto where = [](const std::string& message) { return has(message, "s.lua"); };
  const std::pair<std::string, std::string> mistakes[] = {
      {scenario("titel = 'x',"), "unknown key 'titel'; did you mean 'title'"},
      {scenario("model = 'llama-3.1-9b',"), "llama-3.1-8b"},
      {scenario("hardware = 'h2000',"), "unknown hardware 'h2000'"},
      {scenario("deployment = { tpp = 2 },"), "did you mean 'tp'"},
      {scenario("deployment = { tp = 3 },"), "tp"},
      {scenario("deployment = { tp = 0 },"), "expected 1 to 1024 GPUs, found 0"},
      {scenario("mfu = { lookup = 'nearst' },"), "nearest"},
      {scenario("steps = ({ 'kernel' })[1],"), "did you mean 'kernels'"},
      {scenario("kind = 'prices',"), "did you mean 'price'"},
      {scenario("price = {},"), "expected a list of batches"},
      {scenario("price = { { decodes = -1 } },"), "decodes: expected a whole number"},
      {scenario("price = { 3 },"), "expected a table"},
      {scenario("rooflua = 2,"), "schema 2"},
      {scenario("seed = -1,"), "expected a whole number"},
      {scenario("vary = { ['steps.token_s'] = 3 },"), "expected a list of values"},
      {scenario("corrections = { 'step_overheads' },"), "did you mean 'step_overhead'"},
      {scenario("async_depth = 3,"), "expected 1 or 2"},
      {scenario("report = 3,"), "expected a function"},
      {"return 3", "expected the file to return a table, found number 3"},
      {"return {", "s.lua:1:"},
      {"local x = y\nreturn {}", "s.lua:1: unknown global 'y'"},
  };
  for (const auto& [text, expected] : mistakes) {
    const std::string message = trouble_of(text);
    INFO(expected << " in: " << message);
    CHECK(has(message, expected));
    CHECK(where(message));
  }
}

TEST_CASE("a step model that returns nonsense is an error of the scenario") {
  const auto with_time = [](const std::string& body) {
    std::string text = scenario("");
    const std::string from = "return cost.record(\"tokens\"";
    text.insert(text.find(from), "do " + body + " end ");
    return trouble_of(text);
  };
  CHECK(has(with_time("return nil"), "flat:time returned nil; expected seconds"));
  CHECK(has(with_time("return 0/0"), "flat:time returned nan; expected seconds"));
  CHECK(has(with_time("return -1"), "expected seconds"));
  CHECK(has(with_time("error 'in the model'"), "in the model"));
  CHECK(has(with_time("batch.tokens = 3"), "a batch is read-only"));
  CHECK(has(with_time("return batch.token"), "did you mean 'tokens'"));
}

TEST_CASE("corrections apply in order, to operations and to the step") {
  const std::string more = R"(corrections = {
    require "corrections.launch_overhead" {},
    (function()
      local Add = policy.define { name = "add", doc = "Adds a second." }
      function Add:step(_, time_s) return time_s + 1 end
      return Add {}
    end)(),
  },)";
  const auto results = run_all(scenario(more));
  CHECK(time_of(results[0], 0) >= 21);
  CHECK(has(dump_json(results[0].document), "\"add\""));
  CHECK(has(
      trouble_of(scenario(
          "corrections = { (function() local P = policy.define { name = 'divisor', doc = 'x.' } "
          "function P:op(_, t) return t end return P {} end)() },")),
      "is a parameter of the step model flat as well"));
}

TEST_CASE("a scenario may require policies from its own folder") {
  const File file(
      "return { kind = 'price', model = 'llama-3.1-8b', hardware = 'h200-sxm', steps = require "
      "'mine' { token_s = 2 },\n"
      "price = { { decodes = 1 } } }");
  file.add("mine.lua", flat + "return Flat");
  script::Vm vm(sandbox_options());
  script::Scenario opened(vm, file.path());
  CHECK(time_of(opened.run(0, false), 0) == 12);
}

TEST_CASE("the scenario's own report gets all results") {
  const File file(scenario(
      "vary = { ['steps.token_s'] = { 1, 2 } }, report = function(results)\n"
      "  local rows = { { 'variant', 'time_s' } }\n"
      "  for i, each in ipairs(results) do rows[i + 1] = { each.name, each.price[1].time_s } end\n"
      "  return rows\nend,"));
  script::Vm vm(sandbox_options());
  script::Scenario opened(vm, file.path());
  const std::vector<script::VariantResult> results{opened.run(0, false), opened.run(1, false)};
  CHECK(has(opened.report(results).text, "token_s=2      30"));
  CHECK(opened.document(results).find("variants")->items().size() == 2);
}

TEST_CASE("two scenarios can be open at once") {
  const double alone = time_of(run_all(scenario(""))[0], 0);
  script::Vm vm(sandbox_options());
  const File one(scenario(""));
  script::Scenario first(vm, one.path());
  const File two(scenario("vary = { ['steps.token_s'] = { 3, 5 } },"));  // in the place of `one`
  script::Scenario second(vm, two.path());
  CHECK(time_of(first.run(0, false), 0) == alone);
  CHECK(time_of(second.run(1, false), 0) > time_of(second.run(0, false), 0));
  CHECK(time_of(first.run(0, false), 0) == alone);
}

TEST_CASE("scripts of another version are an error that names what they do not say") {
  script::Vm vm(sandbox_options());
  vm.protect([](lua_State* L) {
    lua_getglobal(L, "require");
    lua_pushstring(L, "rooflua.program.scenarios");
    lua_call(L, 1, 1);
    lua_pushcfunction(L, [](lua_State* state) {
      lua_createtable(state, 0, 2);
      for (const char* key : {"number", "seed"}) {
        lua_pushnumber(state, 1);
        lua_setfield(state, -2, key);
      }
      return 1;
    });
    lua_setfield(L, -2, "open");
  });
  const File file(scenario(""));
  CHECK_THROWS_WITH(script::Scenario(vm, file.path()), ContainsSubstring("'set' is missing"));
}

TEST_CASE("the same scenario gives the same bytes") {
  const std::string text = scenario("steps = ({ 'kernels' })[1],");
  CHECK(dump_json(run_all(text)[0].document) == dump_json(run_all(text)[0].document));
}
