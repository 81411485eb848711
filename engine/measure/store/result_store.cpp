#include "measure/store/result_store.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/error.h"
#include "base/log.h"
#include "measure/store/statement.h"

namespace rooflua {

namespace {

constexpr int application_id = 0x726f6f66;  // "roof", in the header of the file
constexpr int schema_version = 2;
constexpr std::int64_t most_runs = 10'000'000;  // of a set
constexpr int patience_ms = 10'000;             // for another process that writes the same file

constexpr const char* schema =
    "CREATE TABLE runs ("
    " run_hash TEXT NOT NULL, build TEXT NOT NULL, seed INTEGER NOT NULL, scenario TEXT NOT NULL,"
    " parameters TEXT NOT NULL, document TEXT NOT NULL, report TEXT NOT NULL,"
    " drawing TEXT NOT NULL, host TEXT NOT NULL, checksum TEXT NOT NULL,"
    " PRIMARY KEY (run_hash, build));"
    "CREATE TABLE members ("
    " set_hash TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,"
    " run_hash TEXT NOT NULL, PRIMARY KEY (set_hash, position));"
    "CREATE TABLE sets ("
    " set_hash TEXT NOT NULL PRIMARY KEY, title TEXT NOT NULL, total INTEGER NOT NULL,"
    " file TEXT NOT NULL);"
    "CREATE TABLE failures ("
    " set_hash TEXT NOT NULL, position INTEGER NOT NULL, host TEXT NOT NULL,"
    " problem TEXT NOT NULL, tries INTEGER NOT NULL, PRIMARY KEY (set_hash, position, host));";

constexpr const char* all_runs =
    "SELECT run_hash, build, seed, scenario, parameters, document, report, drawing, host, checksum"
    " FROM runs ORDER BY run_hash, build";
constexpr const char* one_run =
    "SELECT run_hash, build, seed, scenario, parameters, document, report, drawing, host, checksum"
    " FROM runs WHERE run_hash = ? AND build = ?";
constexpr const char* put_run = "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* put_member = "INSERT OR REPLACE INTO members VALUES (?, ?, ?, ?)";

/// @param sound  whether the row fits its checksum
ResultRow read_run(Statement& statement, bool& sound) {
  ResultRow row;
  row.run_hash = statement.text(0);
  row.build = statement.text(1);
  row.seed = statement.integer(2);
  row.scenario = statement.text(3);
  row.parameters = statement.text(4);
  row.document = statement.text(5);
  row.report = statement.text(6);
  row.drawing = statement.text(7);
  row.host = statement.text(8);
  sound = statement.text(9) == checksum(row);
  return row;
}

Statement& bind(Statement& statement, const RunFailure& failure) {
  return statement.bind(failure.set_hash)
      .bind(failure.position)
      .bind(failure.host)
      .bind(failure.problem)
      .bind(failure.tries);
}

std::int64_t ask(sqlite3* database, const std::string& file, const char* sql) {
  Statement statement(database, file, sql);
  return statement.step() ? statement.integer(0) : 0;
}

bool has_table(sqlite3* database, const std::string& file, const std::string& table) {
  Statement statement(database, file, "SELECT count(*) FROM sqlite_master WHERE name = ?");
  statement.bind(table);
  return statement.step() && statement.integer(0) > 0;
}

/// A file that a killed program left in the middle of a write is put right when it is opened for
/// writing. One that cannot be written is read as it is.
sqlite3* open(const std::string& file, ResultStore::Use use) {
  sqlite3* opened = nullptr;
  const int flags = use == ResultStore::Use::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                   : SQLITE_OPEN_READWRITE;
  const int status = sqlite3_open_v2(file.c_str(), &opened, flags, nullptr);
  if (status != SQLITE_OK) {
    sqlite3_close(opened);
    if (use == ResultStore::Use::read) throw Error(file, "there is no such file of results");
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    if (!folder.empty() && !std::filesystem::exists(folder))
      throw Error(file, "cannot be written: there is no folder " + folder.string());
    throw Error(file, "cannot be written: its folder is read-only; name a file elsewhere");
  }
  sqlite3_busy_timeout(opened, patience_ms);
  return opened;
}

}  // namespace

std::string checksum(const ResultRow& row) {
  Checksum sum;
  const std::string seed = std::to_string(row.seed);
  for (const std::string* each : {&row.run_hash, &row.build, &seed, &row.scenario, &row.parameters,
                                  &row.document, &row.report, &row.drawing, &row.host}) {
    sum.add(*each);
  }
  return sum.hex();
}

void tell_left_out(const std::string& file, const std::vector<std::string>& runs) {
  constexpr std::size_t most_named = 3;
  if (runs.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(runs.size(), most_named); ++i)
    names += (i == 0 ? "" : ", ") + runs[i];
  if (runs.size() > most_named) names += ", ...";
  const std::string what =
      runs.size() == 1
          ? "1 run was altered after it was written (its checksum does not fit) and is left out: "
          : std::to_string(runs.size()) +
                " runs were altered after they were written (their checksums do not fit) and are "
                "left out: ";
  log::warn(file + ": " + what + names);
}

void ResultStore::Closer::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

void ResultStore::execute(const char* sql) const {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    fail_of_sqlite(database_.get(), file_);
}

Statement& ResultStore::ready(const char* sql) const {
  std::unique_ptr<Statement>& known = prepared_[sql];
  if (known == nullptr) known = std::make_unique<Statement>(database_.get(), file_, sql);
  return known->again();
}

ResultStore::ResultStore(const std::filesystem::path& file, Use use) : file_(file.string()) {
  if (std::filesystem::is_directory(file)) throw Error(file_, "is a folder; name a file in it");
  database_.reset(open(file_, use));
  if (use == Use::write) {
    together([this] { prepare_layout(); });
  } else {
    prepare_layout();
  }
}

void ResultStore::prepare_layout() {
  sqlite3* database = database_.get();
  refuse_code(database, file_);
  if (ask(database, file_, "SELECT count(*) FROM sqlite_master") == 0) {
    execute(schema);
    execute(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
    execute(("PRAGMA user_version = " + std::to_string(schema_version)).c_str());
  } else if (ask(database, file_, "PRAGMA application_id") != application_id) {
    throw Error(file_, "is an SQLite file of something else; name another file for results");
  } else if (ask(database, file_, "PRAGMA user_version") > schema_version) {
    throw Error(file_, "was written by a newer version of rooflua; name another file");
  } else if (!has_table(database, file_, "members")) {
    throw Error(file_, "has the layout of older versions, which cannot be read any more; do its "
                       "runs again with `rooflua run SCENARIO --results NEW.sqlite`");
  }
}

ResultStore::~ResultStore() = default;

std::optional<ResultRow> ResultStore::find(const std::string& run_hash, const std::string& build,
                                           bool& altered) const {
  Statement& statement = ready(one_run);
  statement.bind(run_hash).bind(build);
  altered = false;
  if (!statement.step()) return std::nullopt;
  bool sound = false;
  ResultRow row = read_run(statement, sound);
  statement.again();  // a statement that is not at its end keeps the file locked
  altered = !sound;
  if (altered) return std::nullopt;
  return row;
}

void ResultStore::each_run(const std::function<void(const ResultRow&, bool sound)>& visit) const {
  Statement statement(database_.get(), file_, all_runs);
  while (statement.step()) {
    bool sound = false;
    const ResultRow row = read_run(statement, sound);
    visit(row, sound);
  }
}

std::vector<RunKey> ResultStore::keys() const {
  Statement statement(database_.get(), file_,
                      "SELECT run_hash, build FROM runs ORDER BY run_hash, build");
  std::vector<RunKey> out;
  while (statement.step()) out.push_back({statement.text(0), statement.text(1)});
  return out;
}

std::int64_t ResultStore::count(const std::string& build) const {
  Statement statement(database_.get(), file_,
                      "SELECT count(*) FROM runs WHERE ? = '' OR build = ?");
  statement.bind(build).bind(build).step();
  return statement.integer(0);
}

std::vector<std::string> ResultStore::builds() const {
  Statement statement(database_.get(), file_, "SELECT DISTINCT build FROM runs ORDER BY build");
  std::vector<std::string> out;
  while (statement.step()) out.push_back(statement.text(0));
  return out;
}

std::vector<ResultSet> ResultStore::sets() const {
  Statement statement(database_.get(), file_,
                      "SELECT set_hash, title, total, file FROM sets ORDER BY title, set_hash");
  std::vector<ResultSet> out;
  while (statement.step()) {
    out.push_back({statement.text(0), statement.text(1), statement.integer(2), statement.text(3)});
    const std::int64_t total = out.back().total;
    if (total < 0 || total > most_runs)
      throw Error(file_, "says that a set has " + std::to_string(total) + " runs; a set has 0 to " +
                             std::to_string(most_runs) + ": the file was altered");
  }
  return out;
}

std::vector<SetMember> ResultStore::members(const std::string& set_hash) const {
  Statement statement(database_.get(), file_,
                      "SELECT position, name, run_hash FROM members WHERE set_hash = ?"
                      " ORDER BY position");
  statement.bind(set_hash);
  std::vector<SetMember> out;
  while (statement.step())
    out.push_back({set_hash, statement.integer(0), statement.text(1), statement.text(2)});
  return out;
}

std::vector<RunFailure> ResultStore::failures(const std::string& set_hash) const {
  Statement statement(database_.get(), file_,
                      "SELECT position, host, problem, tries FROM failures WHERE set_hash = ?"
                      " ORDER BY position, host");
  statement.bind(set_hash);
  std::vector<RunFailure> out;
  while (statement.step())
    out.push_back({set_hash, statement.integer(0), statement.text(1), statement.text(2),
                   statement.integer(3)});
  return out;
}

void ResultStore::together(const std::function<void()>& write) {
  execute("BEGIN IMMEDIATE");
  try {
    write();
    execute("COMMIT");
  } catch (...) {
    prepared_.clear();  // one that failed in the middle would keep the file locked
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

void ResultStore::put(const ResultRow& row) {
  Statement& statement = ready(put_run);
  statement.bind(row.run_hash)
      .bind(row.build)
      .bind(row.seed)
      .bind(row.scenario)
      .bind(row.parameters)
      .bind(row.document)
      .bind(row.report)
      .bind(row.drawing)
      .bind(row.host)
      .bind(checksum(row))
      .step();
  statement.again();
}

void ResultStore::put(const ResultSet& set) {
  Statement statement(database_.get(), file_,
                      "INSERT INTO sets VALUES (?, ?, ?, ?) ON CONFLICT (set_hash) DO UPDATE SET"
                      " title = excluded.title, file = excluded.file,"
                      " total = max(total, excluded.total)");
  statement.bind(set.set_hash).bind(set.title).bind(set.total).bind(set.file).step();
}

void ResultStore::put(const SetMember& member) {
  Statement& statement = ready(put_member);
  statement.bind(member.set_hash)
      .bind(member.position)
      .bind(member.name)
      .bind(member.run_hash)
      .step();
  statement.again();
}

void ResultStore::put(const RunFailure& failure) {
  Statement statement(database_.get(), file_,
                      "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?)");
  bind(statement, failure).step();
}

void ResultStore::add_failure(const RunFailure& failure) {
  Statement statement(database_.get(), file_,
                      "INSERT INTO failures VALUES (?, ?, ?, ?, ?)"
                      " ON CONFLICT (set_hash, position, host) DO UPDATE SET"
                      " problem = excluded.problem, tries = tries + excluded.tries");
  bind(statement, failure).step();
}

}  // namespace rooflua
