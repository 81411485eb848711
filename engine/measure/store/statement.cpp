#include "measure/store/statement.h"

#include <utility>

#include "base/error.h"

namespace rooflua {

void fail_of_sqlite(sqlite3* database, const std::string& file) {
  switch (sqlite3_errcode(database)) {
    case SQLITE_NOTADB:
      throw Error(file, "is not a file of results (SQLite); name another file");
    case SQLITE_FULL:
      throw Error(file,
                  "cannot grow: the disk or its quota is full. Runs that ended before are kept; "
                  "make room, and the same command runs only the missing ones");
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw Error(file,
                  "cannot be written: it, or its folder, is read-only; name a file elsewhere");
    case SQLITE_BUSY:
      throw Error(file, "is being written by another process; wait, or name another file");
    case SQLITE_CORRUPT:
      throw Error(file,
                  "is damaged, and its rows cannot be read. Use a copy of it, or delete it and do "
                  "its runs again");
    default:
      throw Error(file, sqlite3_errmsg(database));
  }
}

void refuse_code(sqlite3* database, const std::string& file) {
  // Only a table has pages of its own.
  Statement statement(database, file,
                      "SELECT type, name, tbl_name FROM sqlite_master WHERE lower(tbl_name) IN"
                      " ('runs', 'sets', 'members', 'failures') AND (type = 'trigger' OR"
                      " lower(name) = lower(tbl_name) AND (type <> 'table' OR rootpage = 0))");
  if (!statement.step()) return;
  const std::string type = statement.text(0), name = statement.text(1);
  if (type == "trigger")
    throw Error(file, "is no file of results as rooflua writes them: its table '" +
                          statement.text(2) + "' has the trigger '" + name +
                          "', which would run SQL; drop the trigger");
  throw Error(file, "is no file of results as rooflua writes them: '" + name + "' is a " +
                        (type == "table" ? "virtual table" : type) +
                        " and no table, and to read it would run SQL");
}

Statement::Statement(sqlite3* database, std::string file, const std::string& sql)
    : database_(database), file_(std::move(file)) {
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK)
    fail_of_sqlite(database_, file_);
}

Statement& Statement::bind(const std::string& text) {
  sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

Statement& Statement::again() {
  sqlite3_reset(statement_);
  bound_ = 0;
  return *this;
}

bool Statement::step() {
  const int status = sqlite3_step(statement_);
  if (status != SQLITE_ROW && status != SQLITE_DONE) fail_of_sqlite(database_, file_);
  return status == SQLITE_ROW;
}

std::string Statement::text(int column) {
  const auto* bytes = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

}  // namespace rooflua
