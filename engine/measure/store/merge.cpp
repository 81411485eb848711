#include "measure/store/merge.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <tuple>

#include "base/checksum.h"
#include "base/error.h"
#include "base/json.h"
#include "measure/store/lines.h"
#include "measure/store/shards.h"
#include "measure/write/result.h"

namespace rooflua {

namespace {

constexpr double most_difference = 1e-9;

/// The document without what names it: one run may stand in two sweeps under two names.
Json unnamed(const std::string& document, const std::string& file) {
  const Json whole = parse_json(document, file);
  if (!whole.is_object()) return whole;
  Json out = Json::object();
  for (const Json::Member& each : whole.members()) {
    if (each.key != "name" && each.key != "parameters") out[each.key] = each.value;
  }
  return out;
}

/// The order in which one of two results of a run is kept: one with a drawing, then the smaller.
auto rank(const ResultRow& row) {
  Checksum document;
  document.add(row.document);
  return std::tuple(row.drawing.empty(), document.hex(), checksum(row), row.host);
}

class Union {
 public:
  Union(ResultStore& out, bool strict) : out_(&out), strict_(strict) {}

  void take(const ResultRow& row, bool sound, const std::string& file) {
    if (!sound) {
      ++outcome.altered;
      left_out_[file].push_back(row.run_hash);
      return;
    }
    bool altered = false;
    const auto there = out_->find(row.run_hash, row.build, altered);
    if (!there) {
      out_->put(row);
      ++outcome.added;
      return;
    }
    ++outcome.same;
    if (there->document != row.document) compare_documents(*there, row, file);
    if (rank(row) < rank(*there)) out_->put(row);
  }

  void take(const ResultSet& set) {
    const auto [at, is_new] = sets_.emplace(set.set_hash, set);
    if (is_new) return;
    ResultSet& kept = at->second;
    kept.total = std::max(kept.total, set.total);
    const std::pair one(kept.title, kept.file), other(set.title, set.file);
    std::tie(kept.title, kept.file) = std::min(one, other);
  }
  void take(const SetMember& member) {
    const auto key = std::pair(member.set_hash, member.position);
    const auto [at, is_new] = members_.emplace(key, member);
    if (is_new) return;
    SetMember& kept = at->second;
    if (std::tie(member.run_hash, member.name) < std::tie(kept.run_hash, kept.name)) kept = member;
  }
  void take(const RunFailure& failure) {
    const auto key = std::tuple(failure.set_hash, failure.position, failure.host);
    const auto [at, is_new] = failures_.emplace(key, failure);
    if (is_new) return;
    RunFailure& kept = at->second;
    if (std::tuple(-failure.tries, failure.problem) < std::tuple(-kept.tries, kept.problem))
      kept = failure;
  }

  void take_all_of(const ResultStore& store) {
    store.each_run([&](const ResultRow& row, bool sound) { take(row, sound, store.file()); });
    take_sets_of(store);
  }
  void take_sets_of(const ResultStore& store) {
    for (const ResultSet& set : store.sets()) {
      take(set);
      for (const SetMember& each : store.members(set.set_hash)) take(each);
      for (const RunFailure& each : store.failures(set.set_hash)) take(each);
    }
  }
  void write_sets() {
    for (const auto& [hash, set] : sets_) out_->put(set);
    for (const auto& [key, member] : members_) out_->put(member);
    for (const auto& [key, failure] : failures_) out_->put(failure);
  }

  /// Tells which runs of the files were altered, file by file.
  void tell_left_out() const {
    for (const auto& [file, runs] : left_out_) rooflua::tell_left_out(file, runs);
  }

  MergeOutcome outcome;

 private:
  void compare_documents(const ResultRow& a, const ResultRow& b, const std::string& file) {
    const Comparison compared = compare(unnamed(a.document, file), unnamed(b.document, file), 0);
    if (compared.differences.empty()) return;
    ++outcome.differing;
    outcome.largest_difference = std::max(outcome.largest_difference, compared.largest);
    if (!strict_ && compared.largest <= most_difference) return;
    const Difference& first = compared.differences.front();
    throw Error(file, "run " + a.run_hash + " of build " + a.build +
                          " has two results: " + first.path + " is " + first.a + " and " + first.b +
                          ". Runs are repeatable, so one of them was computed by a changed "
                          "program; delete it and run it again");
  }

  ResultStore* out_;
  bool strict_;
  std::map<std::string, ResultSet> sets_;
  std::map<std::string, std::vector<std::string>> left_out_;  // altered runs, by file
  std::map<std::pair<std::string, std::int64_t>, SetMember> members_;
  std::map<std::tuple<std::string, std::int64_t, std::string>, RunFailure> failures_;
};

void take_file(Union& all, const std::string& file) {
  if (!std::filesystem::exists(file)) throw Error(file, "there is no such file");
  if (!is_sqlite(file)) {
    read_lines(
        file,
        [&](const RunLine& line) {
          all.take(line.row, line.sound, file);
          for (const auto& [set, member] : line.sets) {
            all.take(set);
            all.take(member);
          }
        },
        [&](const ResultSet& set, const RunFailure& failure) {
          all.take(set);
          all.take(failure);
        });
  } else {
    all.take_all_of(ResultStore(file, ResultStore::Use::read));
  }
}

/// The same for a file that no argument names, because it lies in a folder of results.
void take_file_of(Union& all, const std::string& folder, const std::string& file) {
  try {
    take_file(all, file);
  } catch (const Error& error) {
    throw Error(error.where(), error.message() + "; it lies in the folder " + folder +
                                   ": move it out, or name the files in place of the folder");
  }
}

}  // namespace

bool is_sqlite(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  char head[16] = {};
  in.read(head, sizeof head);
  return std::string(head, 15) == "SQLite format 3";
}

MergeOutcome merge_into(ResultStore& out, const std::vector<std::string>& others, bool strict) {
  std::vector<std::pair<std::string, std::string>> files;  // folder, or "", and file
  for (const std::string& each : others) {
    if (!std::filesystem::is_directory(each)) {
      files.emplace_back("", each);
      continue;
    }
    const std::vector<std::string> inside = result_files(each);
    if (inside.empty()) throw Error(each, "holds no files of results (*.sqlite)");
    for (const std::string& file : inside) files.emplace_back(each, file);
  }
  Union all(out, strict);
  out.together([&] {
    all.take_sets_of(out);
    for (const auto& [folder, file] : files) {
      std::error_code ignored;
      if (std::filesystem::equivalent(file, out.file(), ignored)) continue;
      if (folder.empty())
        take_file(all, file);
      else
        take_file_of(all, folder, file);
      ++all.outcome.files;
    }
    all.write_sets();
  });
  all.tell_left_out();
  all.outcome.total = out.count();
  all.outcome.builds = out.builds();
  return all.outcome;
}

MergeOutcome merge(const std::string& out, const std::vector<std::string>& others, bool strict) {
  const bool is_new = !std::filesystem::exists(out);
  try {
    ResultStore store(out, ResultStore::Use::write);
    return merge_into(store, others, strict);
  } catch (...) {
    std::error_code ignored;
    if (is_new) std::filesystem::remove(out, ignored);
    throw;
  }
}

std::unique_ptr<ResultStore> open_results(const std::string& path) {
  if (std::filesystem::is_regular_file(path) && is_sqlite(path))
    return std::make_unique<ResultStore>(path, ResultStore::Use::read);
  auto store = std::make_unique<ResultStore>(":memory:", ResultStore::Use::write);
  merge_into(*store, {path}, false);
  return store;
}

}  // namespace rooflua
