// rooflua check: prints the mistakes and doubtful values that
// scripts/lib/rooflua/program/check.lua finds in a scenario without running it.

#include <cstdio>

#include "app/commands.h"
#include "app/deployment/started.h"
#include "app/options.h"
#include "app/output.h"
#include "app/quote.h"
#include "base/error.h"
#include "base/json_text.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

/// Checks one scenario in a Lua state of its own, so that scenarios share nothing.
/// @param file      empty: files of a start in place of it
Json check_one(const std::string& file, const std::vector<std::string>& set,
               const script::LaunchCommand& command, const std::string& hardware,
               const std::filesystem::path& home) {
  script::Vm vm({.home = home, .print_to_stderr = true});
  if (file.empty())
    return vm.call("rooflua.program.check", "table",
                   {started(hardware), texts_json(set), command.json()});
  return vm.call("rooflua.program.check", "file", {Json(file), texts_json(set), command.json()});
}

std::string headline(const Json& finding) {
  const Json* line = finding.find("line");
  std::string out = text_of(finding, "file");
  if (line != nullptr && line->is_number())
    out += ":" + std::to_string(static_cast<long long>(line->number()));
  return out + ": " + text_of(finding, "level") + ": " + text_of(finding, "message");
}

void print(const Json& checked, const std::filesystem::path& home) {
  for (const Json& finding : checked.find("findings")->items()) {
    const std::string text = headline(finding);
    std::printf("%s\n%s", printable(text).c_str(), quoted_line(text, home).c_str());
  }
  const std::string file = printable(text_of(checked, "file"));
  const auto count = [&](const char* key) {
    return static_cast<long long>(checked.find(key)->number());
  };
  const long long errors = count("errors"), warnings = count("warnings");
  if (errors > 0) {
    std::printf("%s: %lld error%s\n", file.c_str(), errors, errors == 1 ? "" : "s");
    return;
  }
  const long long variants = count("variants");
  std::printf("%s: ok (%lld variant%s, kind %s)", file.c_str(), variants, variants == 1 ? "" : "s",
              text_of(checked, "kind").c_str());
  if (warnings > 0) std::printf(", %lld warning%s", warnings, warnings == 1 ? "" : "s");
  std::printf("\n");
  for (const Json& line : checked.find("notes")->items())
    std::printf("  %s\n", printable(line.text()).c_str());
}

}  // namespace

int check(const CheckArguments& given, const std::filesystem::path& home) {
  const CheckArguments arguments = sorted(given);
  const std::string& json = arguments.json;
  check_files({json}, arguments.scenarios);
  bool failed = false;
  Json all = Json::array();
  const script::LaunchCommand command =
      launch_command(arguments.command, arguments.engine, arguments.model, arguments.from);
  const std::string engine = command.is_given() ? "" : arguments.engine;
  for (const std::string& file : arguments.scenarios) {
    Json checked =
        check_one(file, with_engine(engine, arguments.set), command, arguments.hardware, home);
    failed |= checked.find("errors")->number() > 0;
    if (json != "-") print(checked, home);
    all.push_back(std::move(checked));
  }
  if (!json.empty()) {
    Json document = Json::object();
    document["schema"] = 1;
    document["scenarios"] = std::move(all);
    write_document(document, json);
  }
  return failed ? 1 : 0;
}

}  // namespace rooflua::app
