#include "measure/write/result_store.h"

#include <sqlite3.h>

#include "base/checksum.h"
#include "base/error.h"

namespace rooflua {

namespace {

constexpr int application_id = 0x726f6f66;  // "roof", in the header of the file
constexpr int schema_version = 2;
constexpr int patience_ms = 10'000;  // for another process that writes the same file

constexpr const char* schema =
    "CREATE TABLE runs ("
    " scenario_hash TEXT NOT NULL, version TEXT NOT NULL, position INTEGER NOT NULL,"
    " seed INTEGER NOT NULL, name TEXT NOT NULL, parameters TEXT NOT NULL,"
    " scenario TEXT NOT NULL, document TEXT NOT NULL, report TEXT NOT NULL, drawing TEXT NOT NULL,"
    " checksum TEXT NOT NULL,"
    " PRIMARY KEY (scenario_hash, version, position))";

/// One prepared statement.
class Statement {
 public:
  /// @param file  for errors
  Statement(sqlite3* database, const std::string& file, const char* sql) {
    if (sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr) != SQLITE_OK)
      throw Error(file, sqlite3_errmsg(database));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(const std::string& text) {
    sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(std::int64_t value) {
    sqlite3_bind_int64(statement_, ++bound_, value);
    return *this;
  }
  int step() { return sqlite3_step(statement_); }
  std::int64_t integer(int column) { return sqlite3_column_int64(statement_, column); }
  std::string text(int column) {
    const auto* bytes = sqlite3_column_text(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

std::int64_t ask(sqlite3* database, const std::string& file, const char* sql) {
  Statement statement(database, file, sql);
  if (statement.step() != SQLITE_ROW) throw Error(file, sqlite3_errmsg(database));
  return statement.integer(0);
}

}  // namespace

void ResultStore::Closer::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

void ResultStore::fail() const {
  throw Error(file_, sqlite3_errmsg(database_.get()));
}

void ResultStore::execute(const char* sql) const {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

ResultStore::ResultStore(const std::filesystem::path& file, ResultSet set)
    : file_(file.string()), set_(std::move(set)) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open(file_.c_str(), &opened);
  database_.reset(opened);
  if (status != SQLITE_OK) throw Error(file_, "cannot be opened for results");
  sqlite3_busy_timeout(opened, patience_ms);
  try {
    execute("BEGIN IMMEDIATE");
    const bool empty = ask(opened, file_, "SELECT count(*) FROM sqlite_master") == 0;
    if (empty) {
      execute(schema);
      execute(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
      execute(("PRAGMA user_version = " + std::to_string(schema_version)).c_str());
    } else if (ask(opened, file_, "PRAGMA application_id") != application_id) {
      throw Error(file_, "is an SQLite file of something else; name another file for results");
    } else if (ask(opened, file_, "PRAGMA user_version") != schema_version) {
      throw Error(file_, "holds results of another version of the layout; name another file");
    }
    execute("COMMIT");
  } catch (const Error& error) {
    if (sqlite3_errcode(opened) == SQLITE_NOTADB)
      throw Error(file_, "is not a file of results (SQLite); name another file");
    throw;
  }
}

ResultStore::~ResultStore() = default;

std::string ResultStore::checksum(const ResultRow& row, const std::string& scenario) const {
  Checksum sum;
  for (const std::string& each :
       {set_.scenario_hash, set_.version, std::to_string(row.position), std::to_string(row.seed),
        row.name, row.parameters, scenario, row.document, row.report, row.drawing}) {
    sum.add(each);
  }
  return sum.hex();
}

std::map<std::int64_t, ResultRow> ResultStore::rows() const {
  std::vector<ResultRow> altered;
  return rows(altered);
}

std::map<std::int64_t, ResultRow> ResultStore::rows(std::vector<ResultRow>& altered) const {
  Statement statement(
      database_.get(), file_,
      "SELECT position, seed, name, parameters, document, report, drawing, scenario,"
      " checksum FROM runs WHERE scenario_hash = ? AND version = ?");
  statement.bind(set_.scenario_hash).bind(set_.version);
  std::map<std::int64_t, ResultRow> out;
  int status;
  while ((status = statement.step()) == SQLITE_ROW) {
    ResultRow row;
    row.position = statement.integer(0);
    row.seed = statement.integer(1);
    row.name = statement.text(2);
    row.parameters = statement.text(3);
    row.document = statement.text(4);
    row.report = statement.text(5);
    row.drawing = statement.text(6);
    if (statement.text(8) == checksum(row, statement.text(7))) {
      out.emplace(row.position, std::move(row));
    } else {
      altered.push_back(std::move(row));
    }
  }
  if (status != SQLITE_DONE) fail();
  return out;
}

std::int64_t ResultStore::foreign_rows() const {
  Statement statement(database_.get(), file_,
                      "SELECT count(*) FROM runs WHERE scenario_hash <> ? OR version <> ?");
  statement.bind(set_.scenario_hash).bind(set_.version);
  if (statement.step() != SQLITE_ROW) fail();
  return statement.integer(0);
}

void ResultStore::repair(const ResultRow& row) {
  write(row,
        "UPDATE SET seed = excluded.seed, name = excluded.name, parameters = excluded.parameters,"
        " scenario = excluded.scenario, document = excluded.document, report = excluded.report,"
        " drawing = excluded.drawing, checksum = excluded.checksum");
}

void ResultStore::write(const ResultRow& row, const std::string& on_conflict) {
  const std::string sql =
      "INSERT INTO runs (scenario_hash, version, position, seed, name, parameters, scenario,"
      " document, report, drawing, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
      " ON CONFLICT (scenario_hash, version, position) DO " +
      on_conflict;
  Statement statement(database_.get(), file_, sql.c_str());
  statement.bind(set_.scenario_hash)
      .bind(set_.version)
      .bind(row.position)
      .bind(row.seed)
      .bind(row.name)
      .bind(row.parameters)
      .bind(set_.scenario)
      .bind(row.document)
      .bind(row.report)
      .bind(row.drawing)
      .bind(checksum(row, set_.scenario));
  if (statement.step() != SQLITE_DONE) fail();
}

}  // namespace rooflua
