#pragma once
// `rooflua campaign submit`: the files with which an engine of a cluster runs the shards of a
// scenario. The files are templates in Lua, scripts/campaigns/.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/command_line.h"

namespace rooflua::app {

struct CampaignArguments {
  std::string scenario;
  std::string on;                // slurm, kubernetes, mpirun, parallel, sge
  int shards = 0;                // how many
  std::string dir;               // gets the files, and the results
  std::string site;              // TOML: what the engine must know of the place
  std::vector<std::string> set;  // key=value, as in run
  std::optional<long> seed;
  int jobs = 1;         // worker processes of each shard
  bool submit = false;  // --run
  bool rounds = false;  // a search is done round by round
};

/// What was written.
struct CampaignFiles {
  std::filesystem::path dir;
  std::string submit;    // the command that submits
  std::string scenario;  // the copy of the scenario
  std::string set;       // hash of the set of all runs; "" of a search
  std::int64_t runs = 0;
};

/// Writes the files of a campaign into its folder; again, where they are there.
/// @throws Error if the folder has something else
CampaignFiles write_campaign(const CampaignArguments& arguments, const std::filesystem::path& home);

/// Does a few runs, and says on stderr where all of them take less time here than a queue takes.
void advise(const CampaignFiles& campaign, const CampaignArguments& arguments,
            const std::filesystem::path& home);

int campaign_submit(const CampaignArguments& arguments, const std::filesystem::path& home);

/// Submits, waits, merges, submits again while runs are missing and there is progress, and prints
/// the report.
int campaign_run(const CampaignArguments& arguments, const std::filesystem::path& home);

/// Adds the command.
void add_campaign(const Command& app);

}  // namespace rooflua::app
