#include <chrono>
#include <cstdio>
#include <optional>
#include <set>

#include "app/campaign/campaign.h"
#include "app/campaign/opened.h"
#include "base/error.h"
#include "measure/write/table.h"

namespace rooflua::app {

namespace {

/// Below this a queue takes longer than the runs: SLURM alone takes 10 s for 4 tasks of 0.1 s.
constexpr double worth_shards_s = 60;
constexpr double most_per_run_s = 1;  // CPU time; a longer run is worth a shard
constexpr std::size_t samples = 3;

/// Seconds that all runs take here, from a few of them; nothing where one takes long or fails. The
/// first run also reads the tables that the others share.
std::optional<double> seconds_of_all(script::Scenario& scenario) {
  const std::size_t count = scenario.variants().size();
  std::set<std::size_t> tried;
  for (std::size_t i = 0; i < samples; ++i) tried.insert(i * (count - 1) / (samples - 1));
  double first_s = 0, others_s = 0;
  for (const std::size_t variant : tried) {
    const auto began = std::chrono::steady_clock::now();
    const script::VariantResult result = scenario.run(variant, false);
    if (!result.known() || result.partial() != nullptr) return std::nullopt;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    (variant == 0 ? first_s : others_s) += passed.count();
  }
  if (tried.size() == 1) return first_s;
  const double each_s = others_s / static_cast<double>(tried.size() - 1);
  return first_s + each_s * static_cast<double>(count - 1);
}

}  // namespace

void advise(const CampaignFiles& campaign, const CampaignArguments& arguments,
            const std::filesystem::path& home) {
  if (campaign.set.empty()) return;  // how many runs a search takes is not known before
  try {
    OpenedScenario opened(arguments.scenario, arguments, home, most_per_run_s * samples);
    const std::optional<double> all_s = seconds_of_all(opened.scenario());
    if (!all_s || *all_s >= worth_shards_s) return;
    std::fprintf(stderr,
                 "rooflua: all %s runs take about %.*f s on this machine in one process, which is "
                 "less than a queue takes: rooflua run %s --jobs N\n",
                 grouped(campaign.runs).c_str(), *all_s < 10 ? 1 : 0, *all_s,
                 arguments.scenario.c_str());
  } catch (const Error&) {
    // What is wrong with a run is printed where it runs.
  }
}

}  // namespace rooflua::app
