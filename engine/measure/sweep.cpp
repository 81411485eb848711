#include "measure/sweep.h"

#include <unistd.h>

#include <map>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/workers.h"
#include "measure/write/progress.h"

namespace rooflua {

namespace {

/// The text above a run's report where there are several runs.
std::string heading(const std::string& name) {
  return name.empty() ? "" : "== " + name + "\n";
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

/// The report is kept without its heading, because another sweep may call the run something else.
ResultRow stored(const SweepRow& row, const SweepOptions& options, const Json& result,
                 const std::string& host) {
  ResultRow out;
  out.run_hash = row.run_hash;
  out.build = options.build;
  out.seed = row.seed;
  out.scenario = options.set.file;
  out.parameters = dump_json(row.parameters);
  out.document = dump_json(*result.find("document"));
  out.report = result.find("report")->text();
  const std::string head = heading(row.name);
  if (out.report.compare(0, head.size(), head) == 0) out.report.erase(0, head.size());
  if (const Json* drawing = result.find("drawing")) out.drawing = dump_json(*drawing);
  out.host = host;
  return out;
}

/// Whether a result may be kept in the file: not one of a run that was stopped, nor one without a
/// document.
bool is_whole(const Json& result) {
  const Json* document = result.find("document");
  return document != nullptr && document->find("partial") == nullptr;
}

/// A stored run as this sweep's result of that row. @return null if it is no result
Json taken_over(const ResultRow& stored, const SweepRow& row, const std::string& file) {
  Json document = parse_json(stored.document, file);
  if (!document.is_object()) return {};
  if (document.find("name") != nullptr) document["name"] = row.name;
  if (document.find("parameters") != nullptr) document["parameters"] = row.parameters;
  Json result = Json::object();
  result["document"] = std::move(document);
  result["report"] = heading(row.name) + stored.report;
  if (!stored.drawing.empty()) result["drawing"] = parse_json(stored.drawing, file);
  return result;
}

SetMember member(const SweepRow& row, const SweepOptions& options) {
  return {options.set.set_hash, row.position, row.name, row.run_hash};
}

/// Tells of files whose runs another build of the program computed.
void tell_builds(const ResultStore& store, const std::string& build) {
  if (store.count() == 0 || store.count(build) > 0) return;
  std::string builds;
  for (const std::string& each : store.builds()) builds += (builds.empty() ? "" : ", ") + each;
  log::warn(store.file() + ": its runs are of another build of the program (" + builds +
            "; this is " + build +
            "); they are kept and not used. That build goes on with them, and `rooflua results "
            "export` and `diff` read them with --build");
}

/// Takes the results that a file has. A row that was altered is reported and not taken: its run is
/// done again.
void take_over(const ResultStore& store, const std::vector<SweepRow>& rows,
               const SweepOptions& options, SweepOutcome& outcome) {
  std::set<std::string> used;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!outcome.results[i].is_null()) continue;
    bool altered = false;
    const auto found = store.find(rows[i].run_hash, options.build, altered);
    if (altered) {
      log::warn(store.file() + ": run " + rows[i].run_hash + " (" + rows[i].name +
                ") was altered after it was written (its checksum does not fit); it is run again");
    }
    if (!found) continue;
    Json result = taken_over(*found, rows[i], store.file());
    if (result.is_null()) continue;
    outcome.results[i] = std::move(result);
    ++outcome.reused;
    used.insert(rows[i].run_hash);
  }
  if (options.tells_builds) tell_builds(store, options.build);
  if (store.file() == options.results)
    outcome.foreign = store.count() - static_cast<std::int64_t>(used.size());
}

/// Takes the failures that a file tells of.
void take_failures(const ResultStore& store, const std::vector<SweepRow>& rows,
                   const SweepOptions& options, SweepOutcome& outcome) {
  if (!options.takes_failures) return;
  std::map<std::int64_t, std::string> problems;  // by position
  for (const RunFailure& each : store.failures(options.set.set_hash))
    problems.emplace(each.position, each.problem);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto at = problems.find(rows[i].position);
    if (at != problems.end() && outcome.results[i].is_null()) outcome.problems[i] = at->second;
  }
}

/// Looks into all files, and notes in the own one which of its runs belong to this sweep.
void look_up(const std::vector<SweepRow>& rows, const SweepOptions& options,
             SweepOutcome& outcome) {
  std::vector<bool> own(rows.size());
  {
    ResultStore store(options.results, ResultStore::Use::write);
    take_over(store, rows, options, outcome);
    take_failures(store, rows, options, outcome);
    store.together([&] {
      store.put(options.set);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!outcome.results[i].is_null()) store.put(member(rows[i], options));
      }
    });
  }
  for (const std::string& file : options.also) {
    if (file == options.results) continue;
    try {
      const ResultStore store(file, ResultStore::Use::read);
      take_over(store, rows, options, outcome);
      take_failures(store, rows, options, outcome);
    } catch (const Error& error) {
      log::warn(std::string(error.what()) + "; this file is left aside");
    }
  }
}

/// Writes what a worker answered for a row into the file.
void keep(ResultStore& store, const SweepRow& row, const SweepOptions& options,
          const WorkDone& done, const std::string& host) {
  const Json* failed = done.document.find("failed");
  const std::string problem = failed != nullptr ? failed->text() : done.problem;
  if (!problem.empty()) {
    store.together([&] {
      store.add_failure({options.set.set_hash, row.position, host, problem, 1});
    });
  } else if (is_whole(done.document)) {
    store.together([&] {
      store.put(stored(row, options, done.document, host));
      store.put(member(row, options));
    });
  }
}

/// The rows that have no result yet: of those with one run_hash the first, and the others by it.
struct Missing {
  std::vector<std::size_t> rows;
  std::map<std::size_t, std::vector<std::size_t>> same;
};

Missing missing_rows(const std::vector<SweepRow>& rows, const SweepOutcome& outcome) {
  Missing out;
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!outcome.results[i].is_null() || !outcome.problems[i].empty() || !rows[i].here) continue;
    const auto [at, is_new] = first.emplace(rows[i].run_hash, i);
    if (is_new || rows[i].run_hash.empty()) {
      out.rows.push_back(i);
    } else {
      out.same[at->second].push_back(i);
    }
  }
  return out;
}

}  // namespace

SweepOutcome run_sweep(const std::vector<SweepRow>& rows, const SweepOptions& options,
                       const std::function<Json(std::size_t)>& run) {
  SweepOutcome outcome;
  outcome.results.resize(rows.size());
  outcome.problems.resize(rows.size());
  const bool keeps = !options.results.empty();
  // Closed before the first fork: SQLite forbids to carry a connection into another process.
  if (keeps) look_up(rows, options, outcome);
  const Missing missing = missing_rows(rows, outcome);
  for (std::size_t i = 0; i < rows.size(); ++i)
    outcome.missing += !rows[i].here && outcome.results[i].is_null() && outcome.problems[i].empty();
  std::unique_ptr<ResultStore> store;
  const std::string host = host_name();
  ProgressBar bar(options.title, static_cast<std::int64_t>(rows.size()), options.quiet);
  std::int64_t there = outcome.reused;
  bar.begin(there);
  bar.show(there);
  WorkOptions work;
  work.jobs = options.jobs;
  work.stop = options.stop;
  work.in_process = options.in_process;
  work.before_each = options.before_each;
  work.leave = options.leave;
  const bool finished = in_workers(
      missing.rows.size(), work, [&](std::size_t piece) { return run(missing.rows[piece]); },
      [&](WorkDone&& done) {
        const std::size_t at = missing.rows[done.piece];
        if (keeps && store == nullptr)
          store = std::make_unique<ResultStore>(options.results, ResultStore::Use::write);
        if (keeps) keep(*store, rows[at], options, done, host);
        outcome.problems[at] = done.problem;
        if (done.problem.empty()) outcome.results[at] = std::move(done.document);
        bar.show(++there);
        const auto same = missing.same.find(at);
        if (same == missing.same.end()) return;
        for (const std::size_t other : same->second) {
          outcome.problems[other] = outcome.problems[at];
          if (is_whole(outcome.results[at])) {
            outcome.results[other] = taken_over(
                stored(rows[at], options, outcome.results[at], host), rows[other], "worker");
            if (store != nullptr)
              store->together([&] { store->put(member(rows[other], options)); });
          } else {
            outcome.results[other] = outcome.results[at];
          }
          bar.show(++there);
        }
      });
  outcome.interrupted = !finished;
  return outcome;
}

}  // namespace rooflua
