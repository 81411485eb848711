#pragma once
// Results in an SQLite file: a row as soon as a run has finished. A run is named by its content, so
// that every sweep that contains it shares its row, and files of several machines can be joined.
//
//     runs(run_hash, build, seed, scenario, parameters, document, report, drawing, host, checksum)
//     sets(set_hash, title, total, file)                  sweeps, each a list of runs
//     members(set_hash, position, name, run_hash)         what is known of them
//     failures(set_hash, position, host, problem, tries)  runs that gave no result
//
// run_hash is of everything that the result depends on, except the program: that is `build`. Rows
// of other builds stay in the file and are not used. The checksum is over the other columns of a
// run: a row that does not fit it was altered, and is not used either.
//
// PRAGMA user_version is 2. The layout before it named the runs by their place in a list of runs; a
// file of it is refused.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace rooflua {

class Statement;

struct ResultRow {
  std::string run_hash, build;
  std::int64_t seed = 0;
  std::string scenario;    // its file, for people
  std::string parameters;  // JSON
  std::string document;    // JSON: {name, parameters, summary, ...} as in `--json`
  std::string report;      // for people
  std::string drawing;     // JSON: what a page draws; "" where no page was asked for
  std::string host;        // of the machine that ran it
};

/// What names a run in a file.
struct RunKey {
  std::string run_hash, build;
};

/// 16 digits over all columns.
std::string checksum(const ResultRow& row);

struct ResultSet {
  std::string set_hash, title;
  std::int64_t total = 0;  // runs, whether they are there or not
  std::string file;        // scenario, for people
};

struct SetMember {
  std::string set_hash;
  std::int64_t position = 0;  // from 0
  std::string name;           // of the variant
  std::string run_hash;
};

struct RunFailure {
  std::string set_hash;
  std::int64_t position = 0;
  std::string host, problem;
  std::int64_t tries = 1;
};

/// Tells on stderr which runs of a file are left out because they were altered; none: nothing.
void tell_left_out(const std::string& file, const std::vector<std::string>& runs);

class ResultStore {
 public:
  enum class Use { read, write };
  /// Opens the file; for writing, makes it if it is not there.
  /// @throws Error if it is no such file, has an older layout, or cannot be used so
  ResultStore(const std::filesystem::path& file, Use use);
  ~ResultStore();
  ResultStore(const ResultStore&) = delete;
  ResultStore& operator=(const ResultStore&) = delete;

  const std::string& file() const { return file_; }

  /// The run of that name and build; nothing if there is none. `altered` says that there is one
  /// that does not fit its checksum.
  std::optional<ResultRow> find(const std::string& run_hash, const std::string& build,
                                bool& altered) const;
  /// Every run in order of hash and build; `sound` is false for one that was altered.
  void each_run(const std::function<void(const ResultRow&, bool sound)>& visit) const;
  /// The keys of all runs, altered ones too, in that order.
  std::vector<RunKey> keys() const;
  /// How many runs there are; those of one build with its name.
  std::int64_t count(const std::string& build = "") const;
  std::vector<std::string> builds() const;
  std::vector<ResultSet> sets() const;
  std::vector<SetMember> members(const std::string& set_hash) const;
  std::vector<RunFailure> failures(const std::string& set_hash) const;

  /// Everything that `write` puts is in the file for good when this returns, or none of it.
  void together(const std::function<void()>& write);
  /// These four replace a row with the same key. put(ResultSet) never lowers a total.
  void put(const ResultRow& row);
  void put(const ResultSet& set);
  void put(const SetMember& member);
  void put(const RunFailure& failure);
  /// Counts one more failure of that run on this host.
  void add_failure(const RunFailure& failure);

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  void execute(const char* sql) const;
  void prepare_layout();
  /// The statement of that text, ready for new values: SQLite takes longer to prepare one than to
  /// find a row.
  Statement& ready(const char* sql) const;

  std::string file_;
  std::unique_ptr<sqlite3, Closer> database_;
  mutable std::map<const char*, std::unique_ptr<Statement>> prepared_;  // by the text's address
};

}  // namespace rooflua
