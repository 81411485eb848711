#include "library/pricer.h"

#include "library/opening.h"
#include "script/variant_result.h"

namespace rooflua::library {

namespace {

constexpr const char* module = "rooflua.program.pricer";

}  // namespace

Pricer::Pricer(const std::vector<Json>& scenario)
    : vm_(vm_options()),
      about_(vm_.call(module, "open", scenario)),
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
