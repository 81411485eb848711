#include "app/shard.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "app/output.h"
#include "base/csv.h"
#include "base/error.h"

namespace rooflua::app {

namespace {

namespace fs = std::filesystem;

/// What an engine tells its tasks.
struct Engine {
  const char* variable;
  std::int64_t first;  // the number of its first task; the job files that we write begin there
  const char* requires_variable;  // must be set as well; "" = none
  const char* size;  // how many tasks there are; a group of one says nothing where others speak
};

constexpr Engine engines[] = {
    {"SLURM_ARRAY_TASK_ID", 0, "", ""},
    // Every batch script has a SLURM_PROCID of 0; under srun there is a step as well.
    {"SLURM_PROCID", 0, "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"},
    {"JOB_COMPLETION_INDEX", 0, "", ""},  // Kubernetes, Indexed Job
    {"OMPI_COMM_WORLD_RANK", 0, "", "OMPI_COMM_WORLD_SIZE"},
    {"PMIX_RANK", 0, "", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", 0, "", "PMI_SIZE"},  // MPICH
    {"SGE_TASK_ID", 1, "", ""},
    {"PBS_ARRAY_INDEX", 0, "", ""},
    {"PBS_ARRAYID", 0, "", ""},  // Torque
    {"LSB_JOBINDEX", 1, "", ""},
    {"PARALLEL_SEQ", 1, "", ""},  // GNU parallel
};

std::optional<std::int64_t> whole(const std::string& text) {
  const auto value = parse_number(text);
  if (!value || *value != static_cast<double>(static_cast<std::int64_t>(*value)))
    return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

struct Found {
  std::int64_t index = 0;
  std::string said;    // "SGE_TASK_ID=4"
  bool alone = false;  // of a group of one task
};

/// Outside of arrays SGE says "undefined" and LSF 0.
std::vector<Found> found_in(const Environment& environment) {
  std::vector<Found> out;
  for (const Engine& engine : engines) {
    const char* value = environment(engine.variable);
    if (value == nullptr || *value == '\0' || std::string(value) == "undefined") continue;
    if (*engine.requires_variable != '\0' && environment(engine.requires_variable) == nullptr)
      continue;
    const auto number = whole(value);
    if (!number) {
      throw Misused("--shard auto", std::string(engine.variable) + " is '" + value +
                                        "', which is no number; write --shard I/N");
    }
    if (engine.first > 0 && *number == 0) continue;
    const char* size = *engine.size != '\0' ? environment(engine.size) : nullptr;
    out.push_back({*number - engine.first, std::string(engine.variable) + "=" + value,
                   size != nullptr && std::string(size) == "1"});
  }
  return out;
}

Shard automatic(std::int64_t count, const Environment& environment, std::string* told) {
  std::vector<Found> found = found_in(environment);
  const std::string by_hand = "write --shard I/" + std::to_string(count) + ", with I from 0 to " +
                              std::to_string(count - 1);
  if (found.size() > 1) {
    std::vector<Found> speaking;
    for (const Found& each : found) {
      if (!each.alone) speaking.push_back(each);
    }
    if (!speaking.empty()) found = speaking;
  }
  if (found.empty()) {
    throw Misused("--shard auto",
                  "no engine has said which task this is (looked for SLURM_ARRAY_TASK_ID, "
                  "JOB_COMPLETION_INDEX, OMPI_COMM_WORLD_RANK, SGE_TASK_ID and others); " +
                      by_hand);
  }
  for (const Found& each : found) {
    if (each.index == found.front().index) continue;
    throw Misused("--shard auto", "the environment names two tasks, " + found.front().said +
                                      " and " + each.said + "; " + by_hand);
  }
  const Found& one = found.front();
  if (one.index < 0 || one.index >= count) {
    throw Misused("--shard auto/" + std::to_string(count),
                  one.said + " is the shard " + std::to_string(one.index) + ", and there are " +
                      std::to_string(count) + ", from 0; start as many tasks as shards, or " +
                      by_hand);
  }
  *told =
      "shard " + std::to_string(one.index) + " of " + std::to_string(count) + ", by " + one.said;
  return {one.index, count};
}

/// Whether `file` is one that another shard of the same number of shards writes.
bool is_of_same_count(const std::string& file, const Shard& shard) {
  const std::string own = shard_file(shard), name = fs::path(file).filename().string();
  const std::string ending = own.substr(own.find("-of-"));
  return name.rfind("shard-", 0) == 0 && name.size() >= ending.size() &&
         name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

}  // namespace

Shard parse_shard(const std::string& text, const Environment& environment, std::string* told) {
  constexpr std::int64_t most = 1'000'000;
  const std::size_t slash = text.find('/');
  const std::string first = text.substr(0, slash);
  const std::int64_t count =
      slash == std::string::npos ? 0 : whole(text.substr(slash + 1)).value_or(0);
  if (slash == std::string::npos && text == "auto") {
    throw Misused("--shard auto",
                  "say of how many, as in --shard auto/16: the number of tasks that an engine "
                  "states is another one when a part of them is submitted again");
  }
  const std::int64_t index = first == "auto" ? 0 : whole(first).value_or(-1);
  if (count < 1 || count > most || index < 0 || index >= count) {
    throw Misused("--shard", "expected I/N with I from 0 to N - 1, or auto/N, and N up to " +
                                 std::to_string(most) + "; found '" + text + "'");
  }
  return first == "auto" ? automatic(count, environment, told) : Shard{index, count};
}

std::optional<Shard> shard_of(const RunArguments& arguments) {
  if (arguments.shard.empty()) return std::nullopt;
  std::string told;
  const Shard shard = parse_shard(arguments.shard, std::getenv, &told);
  if (!told.empty()) std::fprintf(stderr, "rooflua: %s\n", told.c_str());
  return shard;
}

Keeping keeping_of(const RunArguments& arguments, const std::optional<Shard>& shard) {
  Keeping out;
  const std::string& path = arguments.results;
  if (shard && path.empty()) {
    throw Misused("--shard",
                  "needs --results DIR, the folder in which every shard has a file of its own");
  }
  if (shard && fs::is_regular_file(path)) {
    throw Misused("--shard", path + " is a file; name a folder with --results, in which every " +
                                 "shard has a file of its own");
  }
  if (shard && !is_results_folder(path) && fs::path(path).extension() == ".sqlite") {
    throw Misused("--shard", path + " is the name of a file; name a folder with --results, as " +
                                 fs::path(path).replace_extension().string() +
                                 "/, in which every shard has a file of its own");
  }
  if (!shard && !is_results_folder(path)) {
    out.file = path;
    return out;
  }
  make_folder(path);
  for (const std::string& file : result_files(path)) {
    if (!shard || !is_of_same_count(file, *shard)) out.also.push_back(file);
  }
  out.file = (fs::path(path) / shard_file(shard.value_or(Shard{}))).string();
  return out;
}

}  // namespace rooflua::app
