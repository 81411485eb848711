#include <cstdio>

#include "app/commands.h"
#include "base/error.h"
#include "cost/mfu_database.h"
#include "script/vm/vm.h"
#include "spec/hardware.h"
#include "spec/model.h"

namespace rooflua::app {

namespace {

void print_names(const std::vector<std::string>& names) {
  for (const std::string& each : names) std::printf("%s\n", each.c_str());
}

std::unique_ptr<script::Vm> library(const std::filesystem::path& home) {
  script::VmOptions options;
  options.home = home;
  options.trusted = true;
  options.interruptible = false;
  return std::make_unique<script::Vm>(options);
}

void print_policies(const std::string& folder, const std::filesystem::path& home) {
  const Json policies = library(home)->call("rooflua", "list", {Json(folder)});
  for (const Json& each : policies.items()) {
    std::printf("%-22s %s\n", each.find("name")->text().c_str(), each.find("doc")->text().c_str());
  }
}

/// The kind that a word means: the name of its folder in scripts/ and bench_data/, or the kind
/// itself.
std::string kind_of(const std::string& word) {
  if (word == "lookup") return "lookups";
  return word == "gpus" ? "hardware" : word;
}

}  // namespace

int list(const std::string& word, const std::filesystem::path& home) {
  const std::vector<std::string> known{"models",      "hardware",  "steps",   "schedulers",
                                       "routers",     "workloads", "lookups", "bucketing",
                                       "corrections", "metrics"};
  const std::string kind = kind_of(word);
  if (kind == "models") {
    print_names(model_names(home));
  } else if (kind == "hardware") {
    print_names(hardware_names(home));
  } else if (kind == "lookups") {
    print_names(lookup_names());
    print_policies("lookup", home);  // lookups in Lua, from scripts/lookup
  } else if (std::find(known.begin(), known.end(), kind) != known.end()) {
    print_policies(kind, home);
  } else {
    throw Error("list", unknown_name("kind", kind, known));
  }
  return 0;
}

int help(const std::string& topic, const std::filesystem::path& home) {
  const Json text = library(home)->call("rooflua", "help", {Json(topic)});
  if (text.is_text()) std::printf("%s\n", text.text().c_str());
  return 0;
}

}  // namespace rooflua::app
