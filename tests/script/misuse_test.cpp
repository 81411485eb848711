#include <fstream>
#include <sstream>

#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

std::string text_of(const std::string& name) {
  std::ifstream file(source_dir() / "tests" / "script" / name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Runs a script of tests/script. @return the number of wrong calls that it made
double calls(const std::string& name, bool trusted, bool jit) {
  script::VmOptions options = sandbox_options();
  options.trusted = trusted;
  options.jit = jit;
  options.print_to_stderr = true;
  script::Vm vm(options);
  INFO(name << (trusted ? ", trusted" : ", sandboxed") << (jit ? ", compiled" : ", interpreted"));
  try {
    return std::stod(vm.run_text(text_of(name), "@" + name));
  } catch (const script::LuaError& error) {
    FAIL(error.what());
    return 0;
  }
}

}  // namespace

TEST_CASE("every public function answers misuse with an error that names the user's line") {
  CHECK(calls("misuse.lua", false, true) > 30000);
  CHECK(calls("misuse.lua", false, false) > 30000);
  CHECK(calls("misuse.lua", true, true) > 30000);
}

TEST_CASE("policies that misuse their views in the middle of a run get errors, never a crash") {
  CHECK(calls("serve_misuse.lua", false, true) > 2000);
  CHECK(calls("serve_misuse.lua", false, false) > 2000);
}

TEST_CASE("every bound function and field has a stub, and every stub is bound") {
  script::VmOptions options = sandbox_options();
  options.trusted = true;
  options.print_to_stderr = true;
  script::Vm vm(options);
  CHECK(vm.run_file(source_dir() / "tests" / "script" / "stubs.lua", {}) == 0);
}

TEST_CASE("compiled and interpreted code give the same bytes") {
  const std::string text = R"(
    local cost, mfu, json = require "rooflua.cost", require "rooflua.mfu", require "rooflua.json"
    local db, out = mfu.open "h200-sxm", {}
    local shape = { heads = 32, kv_heads = 8, head_dim = 128, tp = 1 }
    for m = 1, 400 do
      out[m] = cost.gemm(db, m, 4096, 6144, "bf16", 32) + cost.attention_decode(db, shape, m, m * 1000, 2000, 32)
        + cost.attention_prefill(db, shape, m, 100) + cost.all_reduce(db, m * 8192, 4, 64)
    end
    return json.encode(out)
  )";
  script::VmOptions options = sandbox_options();
  script::Vm compiled(options);
  options.jit = false;
  script::Vm interpreted(options);
  CHECK(run(compiled, text) == run(interpreted, text));
}
