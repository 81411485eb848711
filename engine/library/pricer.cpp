#include "library/pricer.h"

#include <lua.hpp>

#include "script/variant_result.h"
#include "script/vm/stack.h"

namespace rooflua::library {

namespace {

constexpr const char* module = "rooflua.scenario.pricer";

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

}  // namespace

Pricer::Pricer(const std::filesystem::path& home, const char* scenario, const char* overrides)
    : vm_(options_of(home)) {
  const Json changes = object_of(overrides);
  about_ = vm_.call(module, "open", {scenario == nullptr ? Json() : Json(scenario), changes});
  vm_.protect([this](lua_State* L) {
    price_ = script::library_function(L, module, "price");
    explain_ = script::library_function(L, module, "explain");
  });
}

double Pricer::price(const ::rooflua_batch* given) {
  const std::string_view content = reader_.read(given);
  if (const auto known = memory_.find(content)) return *known;
  double seconds = 0;
  vm_.protect([&](lua_State* L) {
    price_.push(L);
    lua_pushlightuserdata(L, const_cast<Batch*>(&reader_.batch()));
    lua_pushnumber(L, reader_.context_max());
    lua_call(L, 2, 1);
    seconds = lua_tonumber(L, -1);
  });
  memory_.keep(content, seconds);
  return seconds;
}

Json Pricer::explain(const ::rooflua_batch* given) {
  reader_.read(given);
  Json priced;
  vm_.protect([&](lua_State* L) {
    explain_.push(L);
    lua_pushlightuserdata(L, const_cast<Batch*>(&reader_.batch()));
    lua_pushnumber(L, reader_.context_max());
    lua_call(L, 2, 1);
    priced = script::to_json(L, lua_gettop(L), "explain");
  });
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
