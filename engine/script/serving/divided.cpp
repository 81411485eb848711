// One run on several cores: processes that each simulate a part of its replicas
// (serve/loop/sharing.h). The results are the same bytes as those of one process.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/json_text.h"
#include "base/workers.h"
#include "measure/write/left_out.h"
#include "script/serving/run.h"
#include "script/vm/interrupt.h"
#include "script/vm/memory_account.h"
#include "serve/loop/sharing.h"

namespace rooflua::script {

namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using TemporaryFile = std::unique_ptr<std::FILE, Closer>;

/// A file without a name, which a forked process inherits.
TemporaryFile temporary_file() {
  TemporaryFile file(std::tmpfile());
  if (!file) throw Error("--jobs", "no temporary file for what a worker process counts");
  return file;
}

void write_all(std::FILE* file, const std::string& bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fflush(file) != 0)
    throw Error("--jobs", "what a worker process counts could not be written");
}

std::string read_all(std::FILE* file) {
  std::fseek(file, 0, SEEK_END);
  std::string bytes(static_cast<std::size_t>(std::max(0L, std::ftell(file))), '\0');
  std::rewind(file);
  if (std::fread(bytes.data(), 1, bytes.size(), file) != bytes.size())
    throw Error("--jobs", "what a worker process counted could not be read");
  return bytes;
}

/// Whether everything went as the parent's scripts expect: they do not know why a request failed.
bool went_well(const Run& run) {
  const Totals& totals = run.simulation->totals();
  const auto ended = std::accumulate(totals.ended.begin(), totals.ended.end(), std::int64_t{0});
  const auto has_problem = [](const auto& steps) { return steps->has_problem(); };
  return totals.cut_answers == 0 &&
         ended == totals.ended[static_cast<std::size_t>(Outcome::completed)] &&
         std::none_of(run.steps.begin(), run.steps.end(), has_problem);
}

/// In a worker process: {good, left_out, notes}.
Json run_part(Run& run, std::int32_t part, std::int32_t parts, std::FILE* file) {
  run.summary->count_part();
  Sharing(*run.simulation).keep(part, parts);
  while (!run.simulation->run(&stop_requested(), instants_per_look)) check_memory(run.asking.L);
  Json out = Json::object();
  out["good"] = stop_requested() == 0 && went_well(run);
  if (part == 0) {
    out["left_out"] = to_json(run.workload->left_out());
    out["notes"] = texts_json(run.workload->notes());
  }
  write_all(file, run.summary->packed());
  return out;
}

/// Why one process simulates all replicas of this run; "": several can. A listener that hears in
/// order what all replicas do, listeners but the summary, is such a reason.
std::string obstacle(const Run& run) {
  if (run.listeners.size() > 1) return "what all replicas do is written or drawn in order";
  if (has_time_limit()) return "its CPU time is limited";
  if (std::string why = Sharing(*run.simulation).obstacle(); !why.empty()) return why;
  const std::string_view part = run.summary->undivided();
  return part.empty() ? "" : std::string(part) + " is not added up over processes";
}

/// Runs it to its end in so many processes, so that run.summary knows what happened; the simulation
/// itself stays at its start.
/// @pre there is no obstacle
/// @returns false: nothing has happened, and one process must run it, since requests failed or a
///          policy raised an error, of which only its own process knows why
bool run_divided(Run& run, int processes) {
  const std::int32_t parts = std::min(processes, Sharing(*run.simulation).groups());
  std::vector<TemporaryFile> files;
  for (std::int32_t i = 0; i < parts; ++i) files.push_back(temporary_file());
  WorkOptions options;
  options.jobs = parts;
  options.stop = &stop_requested();
  options.in_process = continue_in_worker;
  options.leave = [] { return true; };  // a part begins where nothing has happened
  bool good = true;
  Json told;
  const auto work = [&](std::size_t part) {
    return run_part(run, static_cast<std::int32_t>(part), parts, files[part].get());
  };
  const auto done = [&](WorkDone&& result) {
    good = good && result.problem.empty() && result.document.find("good")->boolean();
    if (result.piece == 0) told = std::move(result.document);
  };
  const StopGently gently;
  if (!in_workers(static_cast<std::size_t>(parts), options, work, done) || !good) return false;
  for (const TemporaryFile& file : files) run.summary->add_part(read_all(file.get()));
  run.workload_told = std::move(told);
  return true;
}

/// serve_run_divided(run, processes) -> nothing where several processes ran it to its end, else why
/// one process must run it, from its start.
int serve_run_divided(lua_State* L, Run& run) {
  const auto processes = static_cast<int>(check_number(L, 2, "--jobs"));
  std::string why = obstacle(run);
  if (why.empty() && !run_divided(run, processes))
    why = "requests or a policy failed, or it was stopped";
  if (why.empty()) return 0;
  lua_pushstring(L, why.c_str());
  return 1;
}

}  // namespace

void bind_divided(lua_State* L) {
  set_function(L, "serve_run_divided", on_run<"run", serve_run_divided>);
}

}  // namespace rooflua::script
