// Ops and number formats, as the engine declares them: rooflua.mfu builds its questions from them.

#include "cost/ops/declaration.h"
#include "script/bind/questions.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

std::string_view word(FieldKind kind) {
  switch (kind) {
    case FieldKind::real:
    case FieldKind::count:
      return "number";
    case FieldKind::flag:
      return "flag";
    case FieldKind::word:
      return "word";
    case FieldKind::kv_dtype:
      break;
  }
  return "kv_dtype";
}

Json describe(const Field& field) {
  Json out = Json::object();
  out["name"] = field.name;
  out["unit"] = field.unit;
  out["doc"] = field.doc;
  out["kind"] = word(field.kind);
  out["axis"] = field.role == FieldRole::axis;
  out["per_rank"] = field.per_rank;
  out["whole"] = field.kind == FieldKind::count;
  out["default"] = field.otherwise;
  Json words = Json::array();
  for (const FieldWord& each : field.words) words.push_back(each.name);
  out["words"] = std::move(words);
  return out;
}

/// ops() -> {{name, doc, code, fields = {{name, unit, doc, kind, ...}, ...}}, ...}: the fields of
/// questions. Those that are numbers come in the order of rooflua_query::values.
int list_ops(lua_State* L) {
  Json out = Json::array();
  double code = 0;
  for (const OpDeclaration& op : declared_ops()) {
    Json entry = Json::object();
    entry["name"] = op.name;
    entry["doc"] = op.doc;
    entry["code"] = code++;
    Json fields = Json::array();
    for (const Field& field : op.fields) {
      if (field.number || field.is_kv()) fields.push_back(describe(field));
    }
    entry["fields"] = std::move(fields);
    out.push_back(std::move(entry));
  }
  return push_json(L, out, false);
}

/// formats() -> {{name, code, bits, of_cache, spellings}, ...}
int list_formats(lua_State* L) {
  Json out = Json::array();
  for (const NumberFormat& format : number_formats()) {
    Json entry = Json::object();
    entry["name"] = format.name;
    entry["code"] = static_cast<double>(format.dtype);
    entry["bits"] = format.bits;
    entry["of_cache"] = format.vector_bytes > 0;
    Json spellings = Json::array();
    for (const std::string_view spelling : format.spellings) spellings.push_back(spelling);
    entry["spellings"] = std::move(spellings);
    out.push_back(std::move(entry));
  }
  return push_json(L, out, false);
}

}  // namespace

void bind_ops(lua_State* L) {
  set_function(L, "ops", guarded<list_ops>);
  set_function(L, "formats", guarded<list_formats>);
}

}  // namespace rooflua::script
