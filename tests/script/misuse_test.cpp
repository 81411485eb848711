#include <fstream>
#include <sstream>

#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

TEST_CASE("every public function answers misuse with an error that names the user's line") {
  std::ifstream file(source_dir() / "tests" / "script" / "misuse.lua");
  std::ostringstream text;
  text << file.rdbuf();
  for (const bool trusted : {false, true}) {
    for (const bool jit : {true, false}) {
      script::VmOptions options = sandbox_options();
      options.trusted = trusted;
      options.jit = jit;
      options.print_to_stderr = true;
      script::Vm vm(options);
      INFO((trusted ? "trusted" : "sandboxed") << (jit ? ", compiled" : ", interpreted"));
      const std::string calls = vm.run_text(text.str(), "@misuse.lua");
      CHECK(std::stod(calls) > 30000);
    }
  }
}
