// Models, hardware and deployments as objects.

#include "base/error.h"
#include "base/fields.h"
#include "script/bind/spec_fields.h"
#include "script/vm/context.h"
#include "spec/added_hardware.h"

namespace rooflua::script {

namespace {

/// object_fields(object) -> table of plain values
int object_fields(lua_State* L) {
  if (is_object<Model>(L, 1)) {
    push_json(L, fields_of(*check_object<Model>(L, 1, "model")), false);
  } else if (is_object<Hardware>(L, 1)) {
    push_json(L, fields_of(*check_object<Hardware>(L, 1, "hardware")), false);
  } else {
    push_json(L, fields_of(*check_object<Deployment>(L, 1, "deployment")), false);
  }
  return 1;
}

/// The folders that are told as the last argument: that of the scenario.
std::vector<std::filesystem::path> beside_of(lua_State* L, int index) {
  if (lua_isnoneornil(L, index)) return {};
  return {check_text(L, index, "folder")};
}

/// load_model(name or path, nil, folder) or load_model(table, origin, folder); a table may name a
/// model in `from`. Files of kinds of layers lie in layers/ of the folder.
int open_model(lua_State* L) {
  const auto beside = beside_of(L, 3);
  if (lua_type(L, 1) == LUA_TTABLE) {
    const std::string origin = lua_isnoneornil(L, 2) ? "model" : check_text(L, 2, "origin");
    const Json given = to_json(L, 1, "model");
    const std::filesystem::path& home = context_of(L).options.home;
    push_object(L,
                std::make_shared<const Model>(given.find("from") != nullptr
                                                  ? load_changed_model(given, origin, home, beside)
                                                  : load_model_table(given, origin, home, beside)));
    return 1;
  }
  const std::string wanted = check_text(L, 1, "spec.model: a name, a path or a table");
  push_object(
      L, std::make_shared<const Model>(load_model(wanted, context_of(L).options.home, beside)));
  return 1;
}

/// load_hardware(name or path) or load_hardware(table, origin, base or nil)
int open_hardware(lua_State* L) {
  const std::filesystem::path& home = context_of(L).options.home;
  if (lua_type(L, 1) == LUA_TTABLE) {
    const std::string origin = lua_isnoneornil(L, 2) ? "hardware" : check_text(L, 2, "origin");
    const auto base =
        lua_isnoneornil(L, 3) ? nullptr : check_object<Hardware>(L, 3, "hardware.from");
    auto hardware = std::make_shared<Hardware>(
        hardware_from_script(to_json(L, 1, "hardware"), origin, base.get(), home));
    if (!hardware->tables_from.empty()) {
      // It lies in no folder beside others: a lender is a GPU that has a name.
      const Hardware lender = load_hardware(hardware->tables_from, home);
      hardware->tables_from = std::filesystem::absolute(lender.origin).parent_path().string();
    }
    push_object<Hardware>(L, std::move(hardware));
    return 1;
  }
  const std::string wanted = check_text(L, 1, "spec.hardware: a name, a path or a table");
  push_object(L, std::make_shared<const Hardware>(load_hardware(wanted, home)));
  return 1;
}

/// with_constants(hardware, {name = value}, {fitted_on, lender, title}, where) -> the same GPU with
/// these constants of modelled kernels; what its fit_note says, where the third states it
int with_constants(lua_State* L) {
  Hardware changed = *check_object<Hardware>(L, 1, "mfu.model");
  const std::string where = lua_isnoneornil(L, 4) ? "mfu.model" : check_text(L, 4, "where");
  const Json given = to_json(L, 2, where);
  const Fields fields(given, where);
  for (const Json::Member& member : given.members()) {
    set_constant(changed.family.constants, member.key, fields.need_number(member.key),
                 where + "." + member.key);
  }
  if (lua_type(L, 3) == LUA_TTABLE) {
    const Json described = to_json(L, 3, where);
    const Fields about(described, where);
    Family& family = changed.family;
    family.fitted_on = about.text("fitted_on").value_or(family.fitted_on);
    family.lender = about.text("lender").value_or(family.lender);
    family.title = about.text("title").value_or(family.title);
  }
  push_object(L, std::make_shared<const Hardware>(std::move(changed)));
  return 1;
}

/// kernel_constants(architecture) -> {family, fitted_on, list = {{name, unit, doc, min, max, value,
/// source}}}
int list_kernel_constants(lua_State* L) {
  const Family family = load_family(check_text(L, 1, "architecture"), context_of(L).options.home);
  Json list = Json::array();
  for (const KernelConstant& each : kernel_constants()) {
    Json entry = Json::object();
    entry["name"] = each.name;
    entry["unit"] = each.unit;
    entry["doc"] = each.doc;
    entry["min"] = each.least;
    entry["max"] = each.most;
    entry["value"] = family.constants.*each.value;
    const auto source = family.sources.find(std::string(each.name));
    entry["source"] = source != family.sources.end() ? source->second : "default";
    list.push_back(std::move(entry));
  }
  Json out = Json::object();
  out["family"] = family.title;
  out["fitted_on"] = family.fitted_on;
  out["list"] = std::move(list);
  push_json(L, out, false);
  return 1;
}

/// The keys of the table at `index`.
DeploymentOptions deployment_options(lua_State* L, int index) {
  const Json given = to_json(L, index, "deployment");
  const Fields fields(given, "", "deployment");
  DeploymentOptions options;
  read_figures(fields, options);
  fields.finish();
  return options;
}

/// deploy(model, hardware, options)
int open_deployment(lua_State* L) {
  const auto model = check_object<Model>(L, 1, "deployment.model");
  const auto hardware = check_object<Hardware>(L, 2, "deployment.hardware");
  push_object(
      L, std::make_shared<const Deployment>(deploy(*model, *hardware, deployment_options(L, 3))));
  return 1;
}

/// rank_counts(model, options) -> what one rank holds (rank_counts.h), elements and bytes
int counts_of_rank(lua_State* L) {
  const auto model = check_object<Model>(L, 1, "rank_counts");
  push_json(L, fields_of(rank_counts(*model, deployment_options(L, 2))), false);
  return 1;
}

int parameters(lua_State* L) {
  lua_pushnumber(L, check_object<Model>(L, 1, "model:parameters")->parameters());
  return 1;
}

int active_parameters(lua_State* L) {
  lua_pushnumber(L, check_object<Model>(L, 1, "model:active_parameters")->active_parameters());
  return 1;
}

int kv_bytes_per_token(lua_State* L) {
  const auto& model = check_object<Model>(L, 1, "model:kv_bytes_per_token");
  Dtype dtype = model->dtype;
  if (lua_isnoneornil(L, 2) == 0) {
    dtype = require_dtype(check_text(L, 2, "model:kv_bytes_per_token: kv_dtype"), "kv_dtype");
  }
  lua_pushnumber(L, model->kv_bytes_per_token(dtype).in_base_units());
  return 1;
}

/// kv_of_prompts(model, deployment or kv_dtype) -> {bytes_per_token, fixed_bytes, bounded =
/// {{bytes_per_token, tokens}}}: the KV of a prompt in layers that keep all of it, in recurrent
/// layers, and in those that keep so many tokens at most. Layers of a deployment may have caches in
/// formats of their own.
int kv_of_prompts(lua_State* L) {
  const auto& model = check_object<Model>(L, 1, "kv_of_prompts");
  const bool is_text = lua_type(L, 2) == LUA_TSTRING;
  const Deployment* own =
      is_text ? nullptr : check_object<Deployment>(L, 2, "kv_of_prompts: deployment").get();
  const Dtype all = is_text ? require_dtype(check_text(L, 2, "kv_of_prompts: kv_dtype"), "kv_dtype")
                            : own->kv_dtype;
  Json bounded = Json::array();
  double growing = 0;
  for (const AttentionLayers& each : model->attentions) {
    const Dtype kv = own != nullptr ? own->kv_in(each.formats) : all;
    growing += each.layer_visits() * each.growing_bytes(kv);
    const double bytes = each.layer_visits() * each.bounded_bytes(kv);
    if (bytes == 0) continue;
    Json entry = Json::object();
    entry["bytes_per_token"] = bytes;
    entry["tokens"] = each.window;
    bounded.push_back(std::move(entry));
  }
  Json out = Json::object();
  out["bytes_per_token"] = growing;
  out["fixed_bytes"] = model->state_bytes_per_request().in_base_units();
  out["bounded"] = std::move(bounded);
  push_json(L, out, false);
  return 1;
}

/// model_files(path) -> the files that a model of that path is read from
int files_of_model(lua_State* L) {
  std::vector<std::string> names;
  for (const std::filesystem::path& each : model_files(check_text(L, 1, "path")))
    names.push_back(each.string());
  return push_texts(L, names);
}

int list_models(lua_State* L) {
  return push_texts(L, model_names(context_of(L).options.home));
}
int list_hardware(lua_State* L) {
  return push_texts(L, hardware_names(context_of(L).options.home));
}

/// added_hardware(name or alias) -> the hardware.toml of a GPU that the user added, or nil
int find_added_hardware(lua_State* L) {
  const auto file = added_hardware_named(check_text(L, 1, "name"), context_of(L).options.home);
  if (!file) return 0;
  const std::string path = file->string();
  lua_pushlstring(L, path.data(), path.size());
  return 1;
}

/// dtype_code(text) -> number for the FFI functions, canonical name, bytes per element
int dtype_code(lua_State* L) {
  const Dtype dtype = require_dtype(check_text(L, 1, "dtype"), "dtype");
  lua_pushnumber(L, static_cast<int>(dtype));
  const std::string text(name(dtype));
  lua_pushlstring(L, text.data(), text.size());
  lua_pushnumber(L, bytes_per_element(dtype));
  return 3;
}

}  // namespace

void bind_spec(lua_State* L) {
  set_function(L, "object_fields", guarded<object_fields>);
  set_function(L, "load_model", guarded<open_model>);
  set_function(L, "load_hardware", guarded<open_hardware>);
  set_function(L, "with_constants", guarded<with_constants>);
  set_function(L, "kernel_constants", guarded<list_kernel_constants>);
  set_function(L, "deploy", guarded<open_deployment>);
  set_function(L, "rank_counts", guarded<counts_of_rank>);
  set_function(L, "model_parameters", guarded<parameters>);
  set_function(L, "model_active_parameters", guarded<active_parameters>);
  set_function(L, "model_kv_bytes_per_token", guarded<kv_bytes_per_token>);
  set_function(L, "kv_of_prompts", guarded<kv_of_prompts>);
  set_function(L, "model_files", guarded<files_of_model>);
  set_function(L, "list_models", guarded<list_models>);
  set_function(L, "list_hardware", guarded<list_hardware>);
  set_function(L, "added_hardware", guarded<find_added_hardware>);
  set_function(L, "dtype_code", guarded<dtype_code>);
}

}  // namespace rooflua::script
