#pragma once
// Speculation written in Lua, as the engine sees it.

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "script/serving/policy_call.h"
#include "serve/contract/speculation.h"

namespace rooflua::script {

/// scripts/speculators: drafts, optional draft and landed.
class LuaSpeculator : public SpeculatorPolicy {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  LuaSpeculator(Asking& asking, ServeState& state, int depth);
  int depth() const override { return depth_; }
  int drafts(const Batch& batch, const ReplicaView& view) override;
  bool has_draft() const override { return has_draft_; }
  int draft(const Request& request, int k) override;
  void landed(const SpecSeen& seen) override;

 private:
  int counted(const char* call);

  Asking* asking_;
  ServeState* state_;
  int depth_;
  LuaReference instance_, call_drafts_, call_draft_, call_landed_;
  bool has_draft_ = false, has_landed_ = false;
};

/// scripts/acceptance: curve, optional accept, scope.
class LuaAcceptance : public AcceptanceModel {
 public:
  LuaAcceptance(Asking& asking, ServeState& state, std::uint64_t seed);
  std::shared_ptr<const Curve> curve(const Request& request, RandomStream& stream) override;
  bool per_step() const override { return per_step_; }
  bool has_accept() const override { return has_accept_; }
  std::int32_t accept(const Request& request, const Round& round, const Curve& curve) override;

 private:
  [[noreturn]] void refuse_curve(const std::string& what) const;
  void check_fields() const;
  std::shared_ptr<const Curve> read_curve() const;

  Asking* asking_;
  ServeState* state_;
  double seed_;
  LuaReference instance_, call_curve_, call_accept_;
  bool per_step_ = false, has_accept_ = false;
  /// Tables that curve() returned of late: one that it returns again is read once.
  struct Known {
    LuaReference table;  // alive, so that no other table gets its address
    const void* address = nullptr;
    std::shared_ptr<const Curve> curve;
  };
  std::array<Known, 8> known_;
  std::size_t next_known_ = 0;
};

/// Both of one replica; null where it does not speculate.
struct LuaSpeculation {
  std::unique_ptr<LuaSpeculator> speculator;
  std::unique_ptr<LuaAcceptance> acceptance;
};

/// From the table {speculator, acceptance, depth} on top of the stack, which stays there.
LuaSpeculation read_speculation(Asking& asking, ServeState& state, std::uint64_t seed);

}  // namespace rooflua::script
