#include <cstdio>
#include <cstdlib>
#include <set>

#include "app/campaign/campaign.h"
#include "app/campaign/opened.h"
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

/// Whether a file has every run that the searches of the scenario ask for.
bool searches_end(const CampaignFiles& campaign, const CampaignArguments& arguments,
                  const std::string& file, const fs::path& home) {
  OpenedScenario opened(campaign.scenario, arguments, home);
  script::Scenario& scenario = opened.scenario();
  script::RunOutputs outputs;
  outputs.results = file;
  outputs.round = Shard{arguments.shards, arguments.shards};  // no shard's part: nothing is run
  bool end = true;
  for (std::size_t i = 0; i < scenario.variants().size(); ++i) {
    try {
      if (scenario.run(i, false, outputs).waits) end = false;
    } catch (const Error&) {
      // A search that failed asks for no more runs. The report says why.
    }
  }
  return end;
}

/// How many runs have ended, well or not.
std::int64_t runs_ended(const std::string& file) {
  if (!fs::exists(file)) return 0;
  const ResultStore store(file, ResultStore::Use::read);
  std::int64_t out = store.count(build_stamp());
  for (const ResultSet& set : store.sets())
    out += static_cast<std::int64_t>(store.failures(set.set_hash).size());
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

int campaign_run(const CampaignArguments& given, const std::filesystem::path& home) {
  CampaignArguments arguments = given;
  arguments.rounds = true;
  const CampaignFiles campaign = write_campaign(arguments, home);
  const bool search = campaign.set.empty();
  const std::string all = (campaign.dir / "results.sqlite").string();
  for (std::int64_t before = -1;;) {
    // A shard with a variant that fails ends with a status other than 0: what is there counts.
    const int status = script(campaign.dir, "run.sh");
    script(campaign.dir, "merge.sh");
    const std::int64_t there = search ? runs_ended(all) : runs_there(all, campaign.set);
    if (was_interrupted(status)) {
      std::fprintf(stderr, "rooflua: stopped; the same command goes on\n");
      return 130;
    }
    if (search ? searches_end(campaign, arguments, all, home) : there >= campaign.runs) break;
    if (there <= before && search) {
      throw Error(all,
                  "the search needs further runs, and doing the shards of its round again gave "
                  "none of them; " +
                      (campaign.dir / "logs").string() + " says why");
    }
    if (there <= before) {
      throw Error(all, grouped(campaign.runs - there) + " of " + grouped(campaign.runs) +
                           " runs are missing, and doing their shards again gave none of them; " +
                           (campaign.dir / "logs").string() + " says why");
    }
    if (search) {
      std::fprintf(stderr, "rooflua: %s runs have ended; the next round is submitted\n",
                   grouped(there).c_str());
    } else {
      std::fprintf(stderr, "rooflua: %s of %s runs are there; the others are submitted again\n",
                   grouped(there).c_str(), grouped(campaign.runs).c_str());
    }
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
