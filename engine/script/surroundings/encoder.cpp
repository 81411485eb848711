// What passes of an encoder take, asked in Lua, as the engine sees it.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "script/serving/policy_call.h"
#include "script/surroundings/surrounding.h"
#include "script/vm/stack.h"
#include "serve/contract/items.h"

namespace rooflua::script {

namespace {

EncoderRules rules_of(const rooflua::Fields& fields) {
  EncoderRules out;
  out.budget_tokens = fields.small_integer("budget_tokens").value_or(0);
  out.cache_tokens = fields.small_integer("cache_tokens").value_or(0);
  out.shares = fields.boolean("shares", true);
  out.pins = fields.boolean("pins", true);
  out.splits = fields.boolean("splits", true);
  out.whole = fields.boolean("whole", false);
  fields.finish();
  return out;
}

EncoderModel::Pass pass_of(const Json& given) {
  const rooflua::Fields fields(given, "encoder pass", "");
  EncoderModel::Pass out;
  out.time_s = fields.need_number("time_s");
  if (!(out.time_s >= 0)) throw Error("encoder pass", "time_s: expected 0 or more");
  const rooflua::Fields evidence = fields.need_table("evidence_s");
  for (const EvidenceWord& word : evidence_words)
    out.evidence_s[static_cast<int>(word.value)] =
        evidence.number(std::string(word.name)).value_or(0);
  for (const rooflua::Fields& each : fields.tables("operations")) {
    const auto found = parse_evidence(each.need_text("evidence"));
    out.operations.push_back(
        {each.need_text("name"), found.value_or(Evidence::assumed), each.need_number("time_s")});
  }
  return out;
}

/// rooflua.serving.encoding, which asks rooflua.machine.encoder. Passes over the same kinds of
/// items are remembered.
class LuaEncoder : public EncoderModel, public Surrounding {
 public:
  explicit LuaEncoder(Asking& asking);
  const EncoderRules& rules(std::int32_t replica) const override {
    return rules_[static_cast<std::size_t>(replica)];
  }
  const EncoderPool& pool() const override { return pool_; }
  double host_s(std::int32_t kind) override;
  Json size(std::int32_t kind) override;
  const Pass& pass(std::int32_t replica, std::span<const std::int32_t> kinds) override;
  void bind(Bindings& bindings) override { bindings.encoder = this; }

 private:
  Asking* asking_;
  LuaReference price_, host_, size_;
  std::vector<EncoderRules> rules_;
  std::vector<std::int32_t> machine_;  // by replica: those of one number price alike
  EncoderPool pool_;
  std::int32_t pool_machine_ = 0;
  std::map<std::int32_t, double> host_s_;  // by kind
  std::map<std::pair<std::int32_t, std::vector<std::int32_t>>, Pass> known_;
};

LuaEncoder::LuaEncoder(Asking& asking) : asking_(&asking) {
  lua_State* L = asking.L;
  lua_getfield(L, -1, "config");
  const Json config = to_json(L, lua_gettop(L), "encoder");
  lua_pop(L, 1);
  const rooflua::Fields fields(config, "encoder", "");
  for (const rooflua::Fields& each : fields.tables("replicas")) {
    machine_.push_back(each.need_integer("machine"));
    rules_.push_back(rules_of(each.need_table("rules")));
  }
  if (const auto pool = fields.table("pool")) {
    pool_.replicas = pool->need_integer("replicas");
    pool_.bytes_per_token = pool->need_number("bytes_per_token");
    pool_.bytes_per_s = pool->need_number("bytes_per_s");
    pool_.alpha_s = pool->need_number("alpha_s");
    pool_.over_links = pool->boolean("over_links", false);
    pool_.rules = rules_of(pool->need_table("rules"));
    pool_machine_ = pool->need_integer("machine");
  }
  const LuaReference instance(L);
  price_ = made_function(L, "rooflua.serving.encoding", "price_of", {&instance});
  host_ = made_function(L, "rooflua.serving.encoding", "host_of", {&instance});
  size_ = made_function(L, "rooflua.serving.encoding", "size_of", {&instance});
}

double LuaEncoder::host_s(std::int32_t kind) {
  if (const auto found = host_s_.find(kind); found != host_s_.end()) return found->second;
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its encoder (host)");
  host_.push(L);
  lua_pushinteger(L, kind);
  if (lua_pcall(L, 1, 1, 0) != 0) rethrow(L, "encoder");
  const double time_s = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return host_s_.emplace(kind, time_s).first->second;
}

Json LuaEncoder::size(std::int32_t kind) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its encoder (size)");
  size_.push(L);
  lua_pushinteger(L, kind);
  if (lua_pcall(L, 1, 1, 0) != 0) rethrow(L, "encoder");
  Json out = to_json(L, lua_gettop(L), "encoder size");
  lua_pop(L, 1);
  return out;
}

const EncoderModel::Pass& LuaEncoder::pass(std::int32_t replica,
                                           std::span<const std::int32_t> kinds) {
  const std::int32_t machine =
      replica < 0 ? pool_machine_ : machine_[static_cast<std::size_t>(replica)];
  const std::pair key(machine, std::vector<std::int32_t>(kinds.begin(), kinds.end()));
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its encoder (pass)");
  price_.push(L);
  lua_pushinteger(L, machine);
  lua_createtable(L, static_cast<int>(kinds.size()), 0);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    lua_pushinteger(L, kinds[i]);
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  if (lua_pcall(L, 2, 1, 0) != 0) rethrow(L, "encoder");
  const Json given = to_json(L, lua_gettop(L), "encoder pass");
  lua_pop(L, 1);
  return known_.emplace(key, pass_of(given)).first->second;
}

}  // namespace

std::unique_ptr<Surrounding> read_encoder(lua_State*, Asking& asking) {
  return std::make_unique<LuaEncoder>(asking);
}

}  // namespace rooflua::script
