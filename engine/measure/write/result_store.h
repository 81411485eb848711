#pragma once
// Results of a sweep in an SQLite file, a row as soon as a run has finished, so that an interrupted
// sweep goes on where it stopped.
//
//     runs(scenario_hash, version, position, seed, name, parameters, scenario, document, report,
//          drawing, checksum)
//
// Rows of one scenario hash and program version belong together. Rows of other files or programs
// stay in the file, and are not used. The checksum is over all other columns: a row that does not
// fit it was altered, and is not used either.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct sqlite3;

namespace rooflua {

/// Which set of rows a sweep reads and writes.
struct ResultSet {
  std::string scenario_hash;
  std::string version;   // of the program
  std::string scenario;  // file, for people
};

struct ResultRow {
  std::int64_t position = 0;  // place of the variant in its scenario, from 0
  std::int64_t seed = 0;
  std::string name;
  std::string parameters;  // JSON
  std::string document;    // JSON: {name, parameters, summary, ...} as in `--json`
  std::string report;      // for people
  std::string drawing;     // JSON: what a page draws; "" where no page was asked for
};

class ResultStore {
 public:
  /// Opens the file, or makes it. @throws Error if it is not such a file or cannot be written
  ResultStore(const std::filesystem::path& file, ResultSet set);
  ~ResultStore();
  ResultStore(const ResultStore&) = delete;
  ResultStore& operator=(const ResultStore&) = delete;

  /// The rows of this set, by position. `altered` gets those that do not fit their checksum.
  std::map<std::int64_t, ResultRow> rows(std::vector<ResultRow>& altered) const;
  std::map<std::int64_t, ResultRow> rows() const;
  /// How many rows of the file belong to another scenario hash or version.
  std::int64_t foreign_rows() const;
  /// Adds a row, for good when it returns. A position that is there already stays as it is.
  void add(const ResultRow& row) { write(row, "NOTHING"); }
  /// The same in place of a row that was altered.
  void repair(const ResultRow& row);

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  [[noreturn]] void fail() const;
  void execute(const char* sql) const;
  void write(const ResultRow& row, const std::string& on_conflict);
  std::string checksum(const ResultRow& row, const std::string& scenario) const;

  std::string file_;
  ResultSet set_;
  std::unique_ptr<sqlite3, Closer> database_;
};

}  // namespace rooflua
