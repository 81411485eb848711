#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "app/commands.h"
#include "app/output.h"
#include "app/validate_html.h"
#include "base/error.h"
#include "base/json.h"
#include "measure/progress.h"
#include "script/vm.h"

namespace rooflua::app {

namespace {

constexpr const char* module = "rooflua.validate";

Json texts(const std::vector<std::string>& list) {
  Json out = Json::array();
  for (const std::string& each : list) out.push_back(each);
  return out;
}

/// An empty folder that goes when this goes.
struct Scratch {
  std::filesystem::path path;
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "rooflua-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error(name, "cannot be made");
    path = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

Json options_of(const ValidateArguments& arguments, const Scratch& scratch) {
  Json options = Json::object();
  options["folder"] = arguments.folder;
  options["tables"] = arguments.tables;
  options["only"] = arguments.only;
  options["steps"] = texts(arguments.steps);
  options["set"] = texts(arguments.set);
  options["intervals"] = static_cast<std::int64_t>(arguments.intervals);
  options["scratch"] = scratch.path.string();
  return options;
}

}  // namespace

int validate(const ValidateArguments& arguments, const std::filesystem::path& home) {
  for (const std::string& path : {arguments.json, arguments.html}) check_folder(path);
  script::VmOptions options;
  options.home = home;
  options.trusted = true;
  options.print_to_stderr = arguments.json == "-";
  const Scratch scratch;
  script::Vm vm(options);
  const Json opened = vm.call(module, "open", {options_of(arguments, scratch)});
  const std::int64_t count = opened.find("cases")->integer();
  {
    ProgressBar bar("validate", count);
    for (std::int64_t i = 1; i <= count; ++i) {
      const Json done = vm.call(module, "case", {Json(i)});
      bar.show(i, done.find("id")->text());
    }
  }
  const Json result = vm.call(module, "finish", {Json(!arguments.html.empty())});
  if (arguments.json != "-") std::printf("%s\n", result.find("text")->text().c_str());
  if (!arguments.json.empty()) write_document(*result.find("document"), arguments.json);
  const Json* page = result.find("page");
  if (!arguments.html.empty() && page != nullptr)
    write_text(validation_page(*page), arguments.html);
  if (result.find("ran")->integer() > 0) return 0;
  std::fprintf(stderr, "rooflua: no case could run\n");
  return 1;
}

}  // namespace rooflua::app
