#pragma once
// One prepared statement of SQLite.

#include <sqlite3.h>

#include <cstdint>
#include <string>

namespace rooflua {

class Statement {
 public:
  /// @param file  for errors
  Statement(sqlite3* database, std::string file, const std::string& sql);
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(const std::string& text);
  Statement& bind(std::int64_t value);
  /// Runs it again with new values.
  Statement& again();
  /// Whether there is a (further) row. @throws Error if the file cannot be read or written
  bool step();
  std::int64_t integer(int column) { return sqlite3_column_int64(statement_, column); }
  std::string text(int column);

 private:
  sqlite3* database_;
  std::string file_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

/// Refuses a file in which a name that results have stands for a view, for a virtual table, or for
/// a table with triggers: what is read or written there runs SQL of the file's author, which need
/// not end.
void refuse_code(sqlite3* database, const std::string& file);

/// What SQLite complains of, and what to do about it.
/// @throws Error always
[[noreturn]] void fail_of_sqlite(sqlite3* database, const std::string& file);

}  // namespace rooflua
