#include <cstdio>
#include <cstdlib>
#include <set>

#include "app/campaign/campaign.h"
#include "app/commands.h"
#include "base/build_stamp.h"
#include "base/error.h"
#include "measure/store/merge.h"
#include "measure/write/table.h"

namespace rooflua::app {

namespace {

namespace fs = std::filesystem;

/// How many runs of the set have a result of this build.
std::int64_t runs_there(const std::string& file, const std::string& set) {
  if (!fs::exists(file)) return 0;
  const ResultStore store(file, ResultStore::Use::read);
  std::int64_t out = 0;
  for (const SetMember& member : store.members(set)) {
    bool altered = false;
    if (store.find(member.run_hash, build_stamp(), altered)) ++out;
  }
  return out;
}

/// Runs a script of the campaign. Its output goes to stderr, because stdout is for the report.
int script(const fs::path& dir, const char* name) {
  std::string path;
  for (const char c : (dir / name).string()) path += c == '\'' ? "'\\''" : std::string(1, c);
  return std::system(("sh '" + path + "' 1>&2").c_str());
}

bool was_interrupted(int status) {
  return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) > 128);
}

}  // namespace

int campaign_run(const CampaignArguments& arguments, const std::filesystem::path& home) {
  const CampaignFiles campaign = write_campaign(arguments, home);
  const std::string all = (campaign.dir / "results.sqlite").string();
  for (std::int64_t before = -1;;) {
    // A shard with a variant that fails ends with a status other than 0: what is there counts.
    const int status = script(campaign.dir, "run.sh");
    script(campaign.dir, "merge.sh");
    const std::int64_t there = runs_there(all, campaign.set);
    if (was_interrupted(status)) {
      std::fprintf(stderr, "rooflua: stopped; the same command goes on\n");
      return 130;
    }
    if (campaign.set.empty() || there >= campaign.runs) break;
    if (there <= before) {
      throw Error(all, grouped(campaign.runs - there) + " of " + grouped(campaign.runs) +
                           " runs are missing, and doing their shards again gave none of them; " +
                           (campaign.dir / "logs").string() + " says why");
    }
    std::fprintf(stderr, "rooflua: %s of %s runs are there; the others are submitted again\n",
                 grouped(there).c_str(), grouped(campaign.runs).c_str());
    before = there;
  }
  RunArguments report;
  report.scenario = campaign.scenario;
  report.set = arguments.set;
  report.seed = arguments.seed;
  report.jobs = arguments.jobs;
  report.results = all;
  return run(report, home);
}

}  // namespace rooflua::app
