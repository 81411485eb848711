#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

const std::string start = R"(local policy = require "rooflua.policy"
local Sample = policy.define { name = "sample", doc = "A sample.",
  params = {
    size = { default = 4, unit = "tokens", min = 1, max = 64, integer = true, doc = "How many." },
    share = { default = 0.5, min = 0, exclusive_min = true, doc = "Which part." },
    mode = { default = "fast", values = { "fast", "slow" }, policy = "bucketing", doc = "How." },
    on = { default = true, doc = "Whether." },
    list = { default = { 1, 2 }, doc = "Some." },
    extra = { optional = true, type = "number", doc = "Maybe." },
  },
  presets = { big = { size = 32, on = false } },
}
function Sample:double() return 2 * self.size end
)";

std::string value(const std::string& text) {
  script::Vm vm(sandbox_options());
  return run(vm, start + text);
}
std::string trouble(const std::string& text) {
  script::Vm vm(sandbox_options());
  return complaint(vm, start + text);
}

}  // namespace

TEST_CASE(
    "an instance has the parameters given, the defaults of the rest, and the methods of its "
    "class") {
  CHECK(value("local s = Sample { size = 8 } return s.size .. ' ' .. s.share .. ' ' .. s.mode .. ' "
              "' .. s:double()") == "8 0.5 fast 16");
  CHECK(value("local s = Sample {} return tostring(s.extra) .. s.list[2]") == "nil2");
}

TEST_CASE("a wrong parameter names the line, the policy and what would be right") {
  // the scenario's line is the 14th: 13 lines stand above
  const std::string where = "test.lua:15: ";
  CHECK(starts(trouble("\nlocal s = Sample { sizes = 1 }"),
               where + "sample: unknown parameter 'sizes'; did you mean 'size'"));
  CHECK(starts(trouble("\nlocal s = Sample { size = 0 }"),
               where + "sample.size: expected >= 1 tokens, found 0"));
  CHECK(starts(trouble("\nlocal s = Sample { size = 65 }"),
               where + "sample.size: expected <= 64 tokens, found 65"));
  CHECK(starts(trouble("\nlocal s = Sample { size = 1.5 }"),
               where + "sample.size: expected a whole number tokens, found 1.5"));
  CHECK(starts(trouble("\nlocal s = Sample { size = 0/0 }"),
               where + "sample.size: expected a number, found nan"));
  CHECK(starts(trouble("\nlocal s = Sample { size = '8' }"),
               where + "sample.size: expected a number (tokens), found text \"8\""));
  CHECK(starts(trouble("\nlocal s = Sample { share = 0 }"),
               where + "sample.share: expected > 0, found 0"));
  CHECK(starts(trouble("\nlocal s = Sample { mode = 'fst' }"),
               where + "sample.mode: unknown value 'fst'; did you mean 'fast'"));
  CHECK(starts(trouble("\nlocal s = Sample { on = 1 }"),
               where + "sample.on: expected a boolean, found number 1"));
  CHECK(starts(trouble("\nlocal s = Sample(3)"),
               where + "sample: expected a table of parameters, found number 3"));
}

TEST_CASE("a preset is a named set of parameters that can be overridden") {
  CHECK(value("local s = Sample:preset('big') { size = 16 } return s.size .. tostring(s.on)") ==
        "16false");
  CHECK(value("return Sample.presets.big.size") == "32");
  CHECK(has(trouble("local s = Sample:preset('bog')"), "unknown preset 'bog'; did you mean 'big'"));
}

TEST_CASE("a class is immutable once it is in use, and its declaration always") {
  CHECK(has(trouble("local s = Sample {} function Sample:more() end"),
            "sample is immutable once it is in use"));
  CHECK(has(trouble("Sample.size = 3"), "'size' is a parameter already"));
  CHECK(has(trouble("Sample.params.size = 3"), "read-only"));
  CHECK(has(trouble("Sample.params.size.max = 1e9"), "read-only"));
  CHECK(has(trouble("policy.describe(Sample).params.size.max = 1e9 local s = Sample { size = 65 }"),
            "expected <= 64"));
  CHECK(has(trouble("Sample.presets.big.size = 3"), "read-only"));
}

TEST_CASE("instances share nothing: the engine's is fresh") {
  CHECK(value(R"(
    local s = Sample { size = 8 }
    s.size, s.list[1], s.state = 9, 7, "dirty"
    local fresh = policy.fresh(s)
    return fresh.size .. " " .. fresh.list[1] .. " " .. tostring(fresh.state)
  )") == "8 1 nil");
  CHECK(value("local s = policy.with(Sample { size = 8, on = false }, { size = 9 }) return s.size "
              ".. tostring(s.on)") == "9false");
  CHECK(has(trouble("local s = policy.with(Sample {}, { siz = 9 })"), "did you mean 'size'"));
}

TEST_CASE("a parameter may take another policy") {
  CHECK(value("local Other = policy.define { name = 'other', doc = 'Other.' } "
              "local s = Sample { mode = Other {} } return s.mode.name") == "other");
}

TEST_CASE("a declaration is checked where it is written") {
  const auto define = [](const std::string& body) {
    return trouble("local P = policy.define " + body);
  };
  CHECK(has(define("{ name = 'p' }"), "p: doc: expected text, found nil"));
  CHECK(has(define("{ name = 'p', doc = 'P.', param = {} }"), "did you mean 'params'"));
  CHECK(has(define("{ name = 'p', doc = 'P.', params = { a = { default = 1 } } }"),
            "params.a: needs a doc"));
  CHECK(has(define("{ name = 'p', doc = 'P.', params = { a = { doc = 'A.' } } }"),
            "needs a default"));
  CHECK(has(
      define("{ name = 'p', doc = 'P.', params = { a = { default = 0, min = 1, doc = 'A.' } } }"),
      "expected >= 1"));
  CHECK(has(
      define(
          "{ name = 'p', doc = 'P.', params = { a = { default = 1, doc = 'A.', defualt = 2 } } }"),
      "did you mean 'default'"));
  CHECK(has(define("{ name = 'p', doc = 'P.', presets = { x = { a = 1 } } }"),
            "unknown parameter 'a'"));
}

TEST_CASE("every shipped policy is listed with doc and parameters") {
  script::Vm vm(sandbox_options());
  for (const char* kind : {"steps", "schedulers", "routers", "workloads", "bucketing",
                           "corrections", "speculators", "acceptance", "drafters"}) {
    INFO(kind);
    CHECK(run(vm, "local list = require('rooflua').list '" + std::string(kind) +
                      "' "
                      "for _, each in ipairs(list) do assert(#each.doc > 5 and each.params and "
                      "each.module) end return #list > 0") == "true");
  }
  CHECK(has(complaint(vm, "local l = require('rooflua').list 'step'"), "did you mean 'steps'"));
}

TEST_CASE("help shows stubs and declarations") {
  script::Vm vm(sandbox_options());
  const std::string start_help = "local help = require('rooflua').help ";
  CHECK(starts(run(vm, start_help + "return help 'cost.gemm'"),
               "cost.gemm(db, m, k, n, dtype, count, name)"));
  CHECK(starts(run(vm, start_help + "return help 'db:gemm'"), "Database:gemm(m, k, n, dtype)"));
  CHECK(has(run(vm, start_help + "return help(require('rooflua.spec').model)"),
            "spec.model(source)"));
  CHECK(has(run(vm, start_help + "return help 'bucketing.pow2'"), "smallest = 512 tokens"));
  CHECK(has(complaint(vm, start_help + "local t = help 'cost.gem'"), "did you mean 'cost.gemm'"));
}
