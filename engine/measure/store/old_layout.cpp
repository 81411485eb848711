// Files of results from before runs were named by content:
//
//     runs(scenario_hash, version, position, seed, name, parameters, scenario, document, report,
//          drawing, checksum)
//
// The oldest of them have no checksum.

#include "base/checksum.h"
#include "base/error.h"
#include "measure/store/result_store.h"
#include "measure/store/statement.h"

namespace rooflua {

namespace {

struct Database {
  sqlite3* opened = nullptr;
  explicit Database(const std::string& file) {
    if (sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) {
      sqlite3_close(opened);
      throw Error(file, "there is no such file of results");
    }
  }
  ~Database() { sqlite3_close(opened); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
};

bool has_column(Database& database, const std::string& file, const std::string& column) {
  Statement statement(database.opened, file,
                      "SELECT count(*) FROM pragma_table_info('runs') WHERE name = ?");
  statement.bind(column);
  return statement.step() && statement.integer(0) > 0;
}

}  // namespace

bool has_old_layout(const std::filesystem::path& file) {
  Database database(file.string());
  refuse_code(database.opened, file.string());
  return has_column(database, file.string(), "scenario_hash");
}

void each_old_run(const std::filesystem::path& file,
                  const std::function<void(const OldRun&)>& visit) {
  Database database(file.string());
  const bool checked = has_column(database, file.string(), "checksum");
  Statement statement(
      database.opened, file.string(),
      std::string("SELECT scenario_hash, version, position, seed, name, parameters, scenario,"
                  " document, report, drawing, ") +
          (checked ? "checksum" : "''") + " FROM runs ORDER BY scenario_hash, version, position");
  while (statement.step()) {
    Checksum sum, name;
    for (int column = 0; column < 10; ++column) sum.add(statement.text(column));
    name.add("a run of an older layout");
    for (int column = 0; column < 4; ++column) name.add(statement.text(column));
    OldRun run;
    run.row = {name.name(),       statement.text(1), statement.integer(3),
               statement.text(6), statement.text(5), statement.text(7),
               statement.text(8), statement.text(9), ""};
    run.member = {statement.text(0), statement.integer(2), statement.text(4), run.row.run_hash};
    run.sound = !checked || statement.text(10) == sum.hex();
    visit(run);
  }
}

}  // namespace rooflua
