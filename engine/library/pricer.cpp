#include "library/pricer.h"

#include "script/variant_result.h"

namespace rooflua::library {

namespace {

constexpr const char* module = "rooflua.program.pricer";

script::VmOptions options_of(const std::filesystem::path& home) {
  script::VmOptions options;
  options.home = home;
  options.interruptible = false;
  options.owns_process = false;
  options.memory_bytes = 0;  // the other program's memory would count as well
  options.print_to_stderr = true;
  return options;
}

Json object_of(const char* overrides) {
  if (overrides == nullptr) return Json::object();
  Json read = parse_json(overrides, "overrides");
  if (!read.is_object())
    throw Misuse("overrides", "expected an object, as in {\"deployment.tp\": 2}, found " +
                                  std::string(kind_name(read)));
  return read;
}

/// What opening said of the scenario.
Json opened(script::Vm& vm, const char* scenario, const char* overrides) {
  const Json changes = object_of(overrides);
  return vm.call(module, "open", {scenario == nullptr ? Json() : Json(scenario), changes});
}

}  // namespace

Pricer::Pricer(const std::filesystem::path& home, const char* scenario, const char* overrides)
    : vm_(options_of(home)),
      about_(opened(vm_, scenario, overrides)),
      price_(vm_, module, "price"),
      explain_(vm_, module, "explain") {}

double Pricer::price(const ::rooflua_batch* given) {
  const std::string_view content = reader_.read(given);
  if (const auto known = memory_.find(content)) return *known;
  const double seconds = price_.number(reader_.batch(), reader_.context_max());
  memory_.keep(content, seconds);
  return seconds;
}

Json Pricer::explain(const ::rooflua_batch* given) {
  reader_.read(given);
  const Json priced = explain_.document(reader_.batch(), reader_.context_max());
  Json out = script::price_document(priced);
  out["scenario"] = about_;
  const Json* notes = priced.find("notes");
  out["notes"] = notes != nullptr && notes->is_array() ? *notes : Json::array();
  return out;
}

Json Pricer::capacity() {
  return vm_.call(module, "capacity", {});
}

}  // namespace rooflua::library
