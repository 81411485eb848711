// rooflua files: what each file is that a person holds, what of it is read and what is not
// (scripts/lib/rooflua/program/files.lua).

#include <cstdio>

#include "app/commands.h"
#include "app/options.h"
#include "app/output.h"
#include "app/quote.h"
#include "base/json_text.h"
#include "script/vm/vm.h"

namespace rooflua::app {

void add_files(const Command& app) {
  const Command command = app.command(
      "files", "What files are that --from, --measured or --workload take, line by line");
  auto* a = new FilesArguments;
  command.option("file", a->files, "Start-up logs, manifests, results of benchmarks, ...",
                 {.required = true});
  command.flag("--verbose", a->verbose, "Every line that is understood, with its meaning");
  command.flag("--unread", a->unread, "Every line that is not understood");
  command.option("--json", a->json, "Write the list to a file (- = stdout, alone)");
  command.runs([a](const std::filesystem::path& home) { return list_files(*a, home); });
}

int list_files(const FilesArguments& arguments, const std::filesystem::path& home) {
  check_files({arguments.json}, arguments.files);
  script::Vm vm({.home = home, .print_to_stderr = arguments.json == "-"});
  const Json answer =
      vm.call("rooflua.program.files", "run",
              {texts_json(arguments.files), Json(arguments.verbose), Json(arguments.unread)});
  if (arguments.json != "-") std::printf("%s\n", printable(text_of(answer, "text")).c_str());
  if (!arguments.json.empty()) write_document(*answer.find("document"), arguments.json);
  return answer.find("known")->boolean() ? 0 : 1;
}

}  // namespace rooflua::app
