// FLOP and byte formulas, and the list of operations of a forward pass.

#include "base/error.h"
#include "cost/work/formulas.h"
#include "cost/work/forward_pass.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

constexpr int most_arguments = 12;

/// One formula: upvalue 1 is its place in formulas().
int formula(lua_State* L) {
  const Formula& which = formulas()[static_cast<std::size_t>(lua_tonumber(L, lua_upvalueindex(1)))];
  const int count = lua_gettop(L);
  const std::string where = "cost." + std::string(which.group) + "." + std::string(which.name);
  if (count > most_arguments) throw Error(where, "too many arguments");
  double values[most_arguments];
  for (int i = 0; i < count; ++i) values[i] = check_number(L, i + 1, where.c_str());
  lua_pushnumber(L, which.evaluate(std::span(values, static_cast<std::size_t>(count))));
  return 1;
}

/// formulas() -> {{group, name, arguments, function}, ...}
int list_formulas(lua_State* L) {
  const auto all = formulas();
  lua_createtable(L, static_cast<int>(all.size()), 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    lua_createtable(L, 0, 4);
    for (const auto& [key, text] : {std::pair{"group", all[i].group},
                                    {"name", all[i].name},
                                    {"arguments", all[i].arguments}}) {
      lua_pushlstring(L, text.data(), text.size());
      lua_setfield(L, -2, key);
    }
    lua_pushnumber(L, static_cast<double>(i));
    lua_pushcclosure(L, guarded<formula>, 1);
    lua_setfield(L, -2, "call");
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

/// A sum of symbols: its factors by their names.
Json factors_of(const declared::Sum& sum, double part) {
  Json out = Json::object();
  for (std::size_t i = 0; i < declared::symbols; ++i)
    out[declared::symbol_words[i].name] = sum[i] * part;
  return out;
}

/// Work that a file declares, beside the fields of every operation.
void describe_declared(const LayerOp& op, Json& out) {
  const declared::Operation& own = *op.work;
  out["flop"] = factors_of(own.flop, op.part);
  out["bytes"] = factors_of(own.bytes, op.part);
  out["mfu"] = own.mfu;
  out["from_host"] = own.from_host;
  Json bound = Json::object();
  bound["form"] = declared::bound_words[static_cast<std::size_t>(own.bound.form)].name;
  bound["tokens"] = own.bound.tokens;
  out["bound"] = bound;
}

Json describe(const LayerOp& op) {
  Json out = Json::object();
  out["name"] = op.name;
  out["op"] = name(op.op);
  if (!op.kernel.empty()) out["kernel"] = op.kernel;
  out["rows"] = name(op.rows);
  out["rows_per_token"] = op.rows_per_token;
  out["k"] = op.k;
  out["n"] = op.n;
  out["groups"] = op.groups;
  out["count"] = op.count;
  out["dtype"] = name(op.dtype);
  out["flop_per_row"] = op.flop_per_row;
  out["bytes_per_row"] = op.bytes_per_row;
  out["weight_bytes"] = op.weight_bytes;
  out["heads"] = op.heads;
  out["kv_heads"] = op.kv_heads;
  out["head_dim"] = op.head_dim;
  if (op.op == Op::attention_prefill || op.op == Op::attention_decode || op.op == Op::mla_prefill ||
      op.op == Op::mla_decode)
    out["kv"] = name(op.kv);
  out["kind"] = op.kind + 1;
  if (op.work != nullptr) describe_declared(op, out);
  return out;
}

int list_layers(lua_State* L) {
  const auto& model = check_object<Model>(L, 1, "cost.layers: model");
  const auto& deployment = check_object<Deployment>(L, 2, "cost.layers: deployment");
  Json out = Json::array();
  for (const LayerOp& op : layers(*model, *deployment)) out.push_back(describe(op));
  return push_json(L, out, false);
}

/// Empties an account; gives back what was there, plus what was added if all went well.
class Apart {
 public:
  explicit Apart(EvidenceSeconds& account) : account_(account), saved_(account) {
    account_ = EvidenceSeconds{};
  }
  ~Apart() { account_ = saved_; }
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;
  void keep() {
    for (int i = 0; i < evidence_count; ++i) saved_.seconds[i] += account_.seconds[i];
  }

 private:
  EvidenceSeconds& account_;
  EvidenceSeconds saved_;
};

/// @throws Error if the first argument is not a function
void check_function(lua_State* L, const char* what) {
  if (!lua_isfunction(L, 1)) {
    throw Error(what, "expected a function, found " + describe_value(L, 1));
  }
}

/// price_apart(fn, key) -> fn(key), and the seconds per evidence that it added to the ledger. It is
/// a plain C function because a trace of the compiler ends at one and a new trace begins after it:
/// code that runs once does not become part of a trace that runs often. On a Lua error the
/// destructor restores the account.
int price_apart(lua_State* L) {
  EvidenceSeconds& account = context_of(L).ledger.account;
  check_function(L, "cost.memoize");
  Apart apart(account);
  lua_settop(L, 2);
  lua_call(L, 1, 1);
  for (const double seconds : account.seconds) lua_pushnumber(L, seconds);
  apart.keep();
  return 1 + evidence_count;
}

/// call_apart(fn, ...) -> the results of fn(...). A plain C function, for the same reason.
int call_apart(lua_State* L) {
  check_function(L, "cost.apart");
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

}  // namespace

void bind_cost(lua_State* L) {
  set_function(L, "call_apart", guarded<call_apart>);
  set_function(L, "price_apart", guarded<price_apart>);
  set_function(L, "formulas", guarded<list_formulas>);
  set_function(L, "layers", guarded<list_layers>);
}

}  // namespace rooflua::script
