#pragma once
// The scenario of a campaign, opened as its tasks open it.

#include <filesystem>

#include "app/campaign/campaign.h"
#include "script/scenario.h"
#include "script/vm/vm.h"

namespace rooflua::app {

class OpenedScenario {
 public:
  /// @param timeout_s  CPU time of all its runs; 0 = no limit
  /// @throws Error or LuaError as Scenario does
  OpenedScenario(const std::filesystem::path& file, const CampaignArguments& arguments,
                 const std::filesystem::path& home, double timeout_s = 0)
      : vm_({.home = home, .timeout_s = timeout_s}),
        scenario_(vm_, file, {arguments.set, arguments.seed, std::nullopt}) {}
  script::Scenario& scenario() { return scenario_; }

 private:
  script::Vm vm_;
  script::Scenario scenario_;
};

}  // namespace rooflua::app
