#pragma once
// Policies of KV tiers that are written in Lua, as the engine sees them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "script/serving/policy_call.h"
#include "serve/contract/policy.h"

namespace rooflua::script {

/// scripts/tiers.
class LuaTierPolicy : public TierPolicy {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  LuaTierPolicy(Asking& asking, ServeBorder& border, const std::vector<std::string>& stores);
  Load load(const Request& request, const TierFound& found) override;
  std::uint32_t store(const Request& request, const TierRun& run,
                      std::span<const StoreView> stores) override;
  std::uint32_t store_evicted(const TierRun& run, std::span<const StoreView> stores) override;
  bool writes_back() const override { return writes_back_; }
  bool outputs() const override { return outputs_; }
  bool counts() const override { return counts_; }
  bool promotes() const override { return promotes_; }
  bool as_filled() const override { return as_filled_; }
  bool last_chunk() const override { return last_chunk_; }
  bool shares_loads() const override { return shares_loads_; }
  bool flushes() const override { return flushes_; }
  std::int32_t reference() const override { return reference_; }

 private:
  void open(const Request* request) const;
  std::uint32_t ask_store(const TierRun& run, std::span<const StoreView> stores,
                          const std::string& whose);

  Asking* asking_;
  ServeBorder* border_;
  LuaReference instance_;        // keeps it in the library's list
  std::int32_t reference_ = -1;  // its place there
  LuaReference load_, store_;
  bool outputs_ = false, counts_ = false, promotes_ = false, writes_back_ = false;
  bool as_filled_ = false, last_chunk_ = false, shares_loads_ = false, flushes_ = false;
};

/// scripts/eviction.
class LuaEviction : public EvictionPolicy {
 public:
  LuaEviction(Asking& asking, ServeBorder& border);
  double key(const StoredBlock& block) override;

 private:
  Asking* asking_;
  ServeBorder* border_;
  LuaReference key_;
};

/// Those of one simulation.
struct LuaTiers {
  std::vector<std::unique_ptr<LuaTierPolicy>> policies;  // by replica; null: it has none
  std::vector<std::unique_ptr<LuaEviction>> evictions;   // by store; null: the engine's own order
};

/// From {tier_policies = {instance or false}, evictions = {the same}, stores = names} at `index`;
/// nil: there are no tiers.
LuaTiers read_tiers(lua_State* L, int index, Asking& asking, ServeBorder& border);

}  // namespace rooflua::script
