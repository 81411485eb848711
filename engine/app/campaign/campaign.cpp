#include "app/campaign/campaign.h"

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>

#include "app/commands.h"
#include "app/options.h"
#include "app/output.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_text.h"
#include "base/toml.h"
#include "measure/write/table.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* module = "rooflua.campaign.command";

/// This program's file, which the tasks shall run as well.
std::string own_program() {
  std::error_code ignored;
  const fs::path path = fs::read_symlink("/proc/self/exe", ignored);
  return path.empty() ? "rooflua" : path.string();
}

Json options_of(const CampaignArguments& arguments) {
  Json options = Json::object();
  options["on"] = arguments.on;
  options["shards"] = arguments.shards;
  options["dir"] = fs::absolute(arguments.dir).lexically_normal().string();
  options["program"] = own_program();
  options["jobs"] = arguments.jobs;
  options["rounds"] = arguments.rounds;
  options["set"] = texts_json(arguments.set);
  if (arguments.seed) options["seed"] = std::int64_t{*arguments.seed};
  options["site_file"] = arguments.site;
  options["site"] = arguments.site.empty() ? Json::object() : read_toml(arguments.site);
  return options;
}

/// @throws Error if the folder has something else than a campaign
void check_dir(const std::string& dir) {
  if (!fs::exists(dir) || fs::is_empty(dir)) return;
  if (!fs::is_directory(dir)) throw Error(dir, "is no folder");
  if (!fs::exists(fs::path(dir) / "submit.sh"))
    throw Error(dir, "is not empty and holds no campaign; name a new folder with --dir");
}

void write_files(const Json& files, const fs::path& dir) {
  for (const Json& each : files.items()) {
    const fs::path path = dir / text_of(each, "name");
    make_folder(path.parent_path().string());
    if (const Json* from = each.find("copy_of")) {
      fs::copy_file(from->text(), path, fs::copy_options::overwrite_existing);
      continue;
    }
    write_text(text_of(each, "text"), path.string());
    if (path.extension() == ".sh") ::chmod(path.c_str(), 0755);
  }
}

}  // namespace

CampaignFiles write_campaign(const CampaignArguments& arguments,
                             const std::filesystem::path& home) {
  check_dir(arguments.dir);
  script::Vm vm({.home = home});
  const Json campaign =
      vm.call(module, "submit", {Json(arguments.scenario), options_of(arguments)});
  CampaignFiles out;
  out.dir = fs::absolute(arguments.dir).lexically_normal();
  for (const char* folder : {"results", "logs"}) make_folder((out.dir / folder).string());
  write_files(*campaign.find("files"), out.dir);
  for (const Json& note : campaign.find("notes")->items())
    std::fprintf(stderr, "rooflua: %s\n", note.text().c_str());
  out.submit = text_of(campaign, "submit");
  out.scenario = (out.dir / "scenario" / text_of(campaign, "scenario")).string();
  out.set = text_of(campaign, "set");
  out.runs = campaign.find("runs")->integer();
  return out;
}

int campaign_submit(const CampaignArguments& arguments, const std::filesystem::path& home) {
  const CampaignFiles campaign = write_campaign(arguments, home);
  std::printf("%s: %s runs in %d shards; %s says what comes next\n", campaign.dir.c_str(),
              grouped(campaign.runs).c_str(), arguments.shards,
              (campaign.dir / "README.md").c_str());
  advise(campaign, arguments, home);
  std::printf("%s%s\n", arguments.submit ? "running: " : "submit with: ", campaign.submit.c_str());
  if (!arguments.submit) return 0;
  finish_output();
  const int status = std::system(campaign.submit.c_str());
  if (status == 0) return 0;
  throw Error(campaign.submit,
              "ended with status " +
                  std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : status) +
                  "; its own message is above");
}

void add_campaign(const Command& app) {
  const Command command = app.command(
      "campaign", "Sweeps on many machines: the jobs of a cluster's engine for a scenario");
  command.needs_command();
  const Command submit = command.command(
      "submit", "Write a job with a task per shard, a job that merges, and what to do next");
  const Command run = command.command(
      "run", "The same, and wait for it, submit again what is missing, and print the report");
  auto* a = new CampaignArguments;  // lives as long as the program: the options point into it
  for (const Command& sub : {submit, run}) {
    sub.option("scenario", a->scenario, "A Lua file that returns a scenario", {.required = true});
    sub.option("--on", a->on, "slurm, kubernetes, mpirun, parallel or sge", {.required = true});
    sub.option("--shards", a->shards, "Into how many parts the runs are dealt",
               {.required = true, .check = whole(1, 1000000)});
    sub.option("--dir", a->dir, "Folder for the job and the results, seen by all machines",
               {.required = true});
    sub.option("--site", a->site,
               "TOML with what the place wants: partition, image, claim, ... (help "
               "campaigns.slurm lists them)");
    sub.option("--jobs", a->jobs, "Worker processes of each shard", {.check = whole(1, 1024)});
    sub.option("--set", a->set, "key=value, as in run", {.repeated = true});
    sub.option("--seed", a->seed, "Overrides the scenario's seed", {.check = seeds()});
  }
  submit.flag("--run", a->submit, "Submit it, too");
  submit.runs([a](const fs::path& home) { return campaign_submit(*a, home); });
  run.runs([a](const fs::path& home) { return campaign_run(*a, home); });
}

}  // namespace rooflua::app
