// `rooflua results list`: the sweeps of a file, and what they lack.

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "app/commands.h"
#include "app/output.h"
#include "app/results/results.h"
#include "base/build_stamp.h"
#include "base/error.h"
#include "base/json.h"
#include "measure/store/frame.h"
#include "measure/store/merge.h"
#include "measure/store/shards.h"
#include "measure/write/table.h"

namespace rooflua::app {

namespace {

/// What a file has of one set.
struct SetState {
  ResultSet set;
  std::map<std::string, std::set<std::int64_t>> there;  // positions with a result, by build
  std::map<std::int64_t, RunFailure> failed;            // the last failure of a position without
};

/// The runs that count, and how many were altered.
struct Runs {
  std::map<std::string, std::vector<std::string>> builds;  // of each run
  std::int64_t sound = 0;
  std::vector<std::string> altered;
};

Runs runs_of(const ResultStore& store) {
  Runs out;
  store.each_run([&](const ResultRow& row, bool sound) {
    if (!sound) return out.altered.push_back(row.run_hash + " " + row.build);
    out.builds[row.run_hash].push_back(row.build);
    ++out.sound;
  });
  return out;
}

std::vector<SetState> states(const ResultStore& store, const Runs& runs, const std::string& set) {
  const auto& builds = runs.builds;
  std::vector<SetState> out;
  for (const ResultSet& each : chosen_sets(store, set)) {
    SetState state{each, {}, {}};
    std::set<std::int64_t> known;
    for (const SetMember& member : store.members(each.set_hash)) {
      const auto at = builds.find(member.run_hash);
      if (at == builds.end()) continue;
      known.insert(member.position);
      for (const std::string& build : at->second) state.there[build].insert(member.position);
    }
    for (const RunFailure& failure : store.failures(each.set_hash)) {
      if (known.count(failure.position) == 0) state.failed[failure.position] = failure;
    }
    out.push_back(std::move(state));
  }
  return out;
}

/// The build whose rows count: the one that was asked for, the only one, or this program's.
std::string build_that_counts(const SetState& state, const std::string& asked) {
  if (!asked.empty()) return asked;
  if (state.there.size() == 1) return state.there.begin()->first;
  if (state.there.empty() || state.there.count(build_stamp()) > 0) return build_stamp();
  std::string builds;
  for (const auto& [build, positions] : state.there) builds += (builds.empty() ? "" : ", ") + build;
  throw Misused("--missing", "the rows are of several builds of the program (" + builds +
                                 "); say which with --build");
}

/// "0,2-4"
std::string ranges(const std::vector<std::int64_t>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    out += (out.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i) out += "-" + std::to_string(numbers[last]);
    i = last;
  }
  return out;
}

/// Prints the shards that lack runs, as an array of SLURM takes them.
int print_missing(const std::vector<SetState>& all, const ResultsArguments& arguments) {
  if (all.size() != 1) {
    throw Misused("--missing", all.empty() ? "the file has no sets"
                                           : "the file has " + std::to_string(all.size()) +
                                                 " sets; say which with --set");
  }
  const SetState& state = all.front();
  const std::string build = build_that_counts(state, arguments.build);
  const auto at = state.there.find(build);
  const std::set<std::int64_t> none;
  const std::set<std::int64_t>& there = at == state.there.end() ? none : at->second;
  const std::vector<std::int64_t> shards = dealt(state.set.total, arguments.missing);
  std::set<std::int64_t> lacking;
  std::int64_t runs = 0;
  for (std::size_t position = 0; position < shards.size(); ++position) {
    if (there.count(static_cast<std::int64_t>(position)) > 0) continue;
    lacking.insert(shards[position]);
    ++runs;
  }
  if (runs == 0) {
    std::fprintf(stderr, "rooflua: no run is missing: all %lld are there\n",
                 static_cast<long long>(state.set.total));
    return 0;
  }
  std::fprintf(stderr, "rooflua: %lld of %lld runs are missing, in %zu of %d shards\n",
               static_cast<long long>(runs), static_cast<long long>(state.set.total),
               lacking.size(), arguments.missing);
  std::printf("%s\n", ranges({lacking.begin(), lacking.end()}).c_str());
  return 0;
}

Json json_of(const SetState& state) {
  Json out = Json::object(), builds = Json::array(), failed = Json::array();
  out["set_hash"] = state.set.set_hash;
  out["title"] = state.set.title;
  out["file"] = state.set.file;
  out["total"] = state.set.total;
  for (const auto& [build, positions] : state.there) {
    Json entry = Json::object();
    entry["build"] = build;
    entry["runs"] = static_cast<std::int64_t>(positions.size());
    builds.push_back(std::move(entry));
  }
  for (const auto& [position, failure] : state.failed) {
    Json entry = Json::object();
    entry["position"] = position;
    entry["host"] = failure.host;
    entry["problem"] = failure.problem;
    entry["tries"] = failure.tries;
    failed.push_back(std::move(entry));
  }
  out["builds"] = std::move(builds);
  out["failed"] = std::move(failed);
  return out;
}

std::string table_of(const std::vector<SetState>& all) {
  Table table;
  table.add({"set", "title", "runs", "of", "failed", "build", "scenario"});
  table.rule();
  for (const std::size_t column : {1u, 5u, 6u}) table.left(column);
  for (const SetState& state : all) {
    const auto line = [&](const std::string& build, std::size_t runs) {
      table.add({state.set.set_hash.substr(0, 8), state.set.title,
                 grouped(static_cast<std::int64_t>(runs)), grouped(state.set.total),
                 grouped(static_cast<std::int64_t>(state.failed.size())), build, state.set.file});
    };
    if (state.there.empty()) line("-", 0);
    for (const auto& [build, positions] : state.there) line(build, positions.size());
  }
  return table.text();
}

}  // namespace

int results_list(const ResultsArguments& arguments) {
  const auto store = open_results(arguments.file);
  chosen_builds(*store, arguments.build);  // refuses a name that no run has
  const Runs runs = runs_of(*store);
  const std::vector<SetState> all = states(*store, runs, arguments.set);
  tell_left_out(store->file(), runs.altered);
  if (arguments.missing > 0) return print_missing(all, arguments);
  if (arguments.json != "-") {
    if (!all.empty()) print_tables(table_of(all));
    for (const SetState& state : all) {
      for (const auto& [position, failure] : state.failed) {
        std::printf("%s run %lld failed %lld times, on %s: %s\n",
                    state.set.set_hash.substr(0, 8).c_str(), static_cast<long long>(position),
                    static_cast<long long>(failure.tries), failure.host.c_str(),
                    failure.problem.c_str());
      }
    }
    std::printf("%s%s runs\n", all.empty() ? "" : "\n", grouped(runs.sound).c_str());
  }
  if (arguments.json.empty()) return 0;
  Json out = Json::object(), sets = Json::array();
  for (const SetState& state : all) sets.push_back(json_of(state));
  out["schema"] = 1;
  out["runs"] = runs.sound;
  if (!runs.altered.empty()) out["altered"] = static_cast<std::int64_t>(runs.altered.size());
  out["sets"] = std::move(sets);
  write_document(out, arguments.json);
  return 0;
}

}  // namespace rooflua::app
