#include "measure/store/merge.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>

#include "base/checksum.h"
#include "base/error.h"
#include "base/json.h"
#include "measure/store/frame.h"
#include "measure/store/lines.h"
#include "measure/store/shards.h"
#include "tests/catch.h"
#include "tests/measure/change_rows.h"
#include "tests/scratch.h"

using namespace rooflua;

namespace {

namespace fs = std::filesystem;
using Use = ResultStore::Use;

struct Folder {
  fs::path path = rooflua::test::scratch() / "merge";
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
};

ResultRow row(int number, double value = 1, const std::string& host = "a") {
  ResultRow out;
  out.run_hash = "run" + std::to_string(number);
  out.build = "0.1.0+abc";
  out.seed = number;
  out.scenario = "s.lua";
  out.parameters = "{\"x\":" + std::to_string(number) + "}";
  out.document = "{\"name\":\"x\",\"summary\":{\"ttft_s\":{\"p99\":" + json_number(value) +
                 "},\"replicas\":[1]}}";
  out.report = "report " + std::to_string(number) + "\n";
  out.host = host;
  return out;
}

void write(const std::string& file, const std::vector<ResultRow>& rows) {
  ResultStore store(file, Use::write);
  store.put(ResultSet{"set", "a title", 9, "s.lua"});
  for (const ResultRow& each : rows) {
    store.put(each);
    store.put(SetMember{"set", each.seed, "x=" + std::to_string(each.seed), each.run_hash});
  }
  store.put(RunFailure{"set", 8, "host", "no memory", 2});
}

/// Everything in a file, in an order that does not depend on how it came there.
std::string content(const std::string& file) {
  std::string out;
  write_lines(ResultStore(file, Use::read), [&](const std::string& line) { out += line; });
  return out;
}

std::string problem_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void execute(const std::string& file, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  REQUIRE(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

}  // namespace

TEST_CASE("merging does not depend on order, grouping or repetition") {
  const Folder folder;
  std::vector<std::string> files;
  for (int i = 0; i < 4; ++i) {
    files.push_back(folder.file("in" + std::to_string(i) + ".sqlite"));
    // Run 9 is in all of them, and differs in the last digit and in its host.
    write(files.back(), {row(2 * i), row(2 * i + 1), row(9, 1 + i * 1e-16 * 4, std::to_string(i))});
  }
  merge(folder.file("all"), files, false);
  const std::string expected = content(folder.file("all"));
  CHECK(std::count(expected.begin(), expected.end(), '\n') == 10);
  std::reverse(files.begin(), files.end());
  merge(folder.file("back"), files, false);
  CHECK(content(folder.file("back")) == expected);
  merge(folder.file("half"), {files[0], files[1]}, false);
  merge(folder.file("whole"), {files[3], folder.file("half"), files[2], files[2]}, false);
  CHECK(content(folder.file("whole")) == expected);
  CHECK(merge(folder.file("whole"), {folder.file("all")}, false).added == 0);
  CHECK(content(folder.file("whole")) == expected);
  std::ofstream(folder.file("lines.jsonl")) << expected;
  merge(folder.file("read"), {folder.file("lines.jsonl")}, true);
  CHECK(content(folder.file("read")) == expected);
}

TEST_CASE("lines are found in a log between marks, whatever stands in front of them") {
  const Folder folder;
  write(folder.file("a.sqlite"), {row(1), row(2)});
  std::ofstream log(folder.file("pod.log"));
  log << "starting\n{\"level\":\"info\"}\n[pod/x] BEGIN ROOFLUA RESULTS\n";
  write_lines(ResultStore(folder.file("a.sqlite"), Use::read),
              [&](const std::string& line) { log << "[pod/x] " << line; });
  log << "[pod/x] END ROOFLUA RESULTS\n{\"level\":\"info\"}\n";
  log.close();
  CHECK(merge(folder.file("m"), {folder.file("pod.log")}, false).added == 2);
  CHECK(content(folder.file("m")) == content(folder.file("a.sqlite")));
}

TEST_CASE("two results of one run that differ are told, and nothing is changed") {
  const Folder folder;
  write(folder.file("a"), {row(1, 1.0)});
  write(folder.file("b"), {row(1, 1.1), row(2)});
  write(folder.file("c"), {row(1, 1 + 1e-12)});
  const std::string before = content(folder.file("a"));
  const std::string problem =
      problem_of([&] { merge(folder.file("a"), {folder.file("b")}, false); });
  INFO(problem);
  CHECK(contains(problem, "summary.ttft_s.p99 is 1 and 1.1"));
  CHECK(content(folder.file("a")) == before);
  const MergeOutcome close = merge(folder.file("a"), {folder.file("c")}, false);
  CHECK(close.differing == 1);
  CHECK(close.largest_difference < 2e-12);
  CHECK_FALSE(problem_of([&] {
                merge(folder.file("a"), {folder.file("c"), folder.file("b")}, true);
              }).empty());
}

TEST_CASE(
    "altered rows are left out, foreign files are refused, and no empty file is left behind") {
  const Folder folder;
  write(folder.file("a"), {row(1), row(2)});
  test::change_rows(folder.file("a"), "report = 'changed' WHERE run_hash = 'run1'");
  const MergeOutcome done = merge(folder.file("m"), {folder.file("a")}, false);
  CHECK(done.altered == 1);
  CHECK(done.total == 1);
  std::ofstream(folder.file("t.csv")) << "a,b\n1,2\n";
  for (const char* each : {"t.csv", "nowhere"}) {
    const std::string problem =
        problem_of([&] { merge(folder.file("new"), {folder.file(each)}, false); });
    CHECK(contains(problem, each));
    CHECK_FALSE(fs::exists(folder.file("new")));
  }
  execute(folder.file("other"), "CREATE TABLE x (y)");
  CHECK(contains(problem_of([&] { merge(folder.file("new"), {folder.file("other")}, false); }),
                 "SQLite file of something else"));
}

TEST_CASE("a file that runs SQL of its own where it is read or written is refused") {
  const Folder folder;
  // Each of these makes a statement of the store run without end, or run what the file says.
  const std::pair<const char*, const char*> disguises[] = {
      {"view",
       "ALTER TABLE runs RENAME TO r2; CREATE VIEW runs AS WITH RECURSIVE c(x) AS (SELECT 1 "
       "UNION ALL SELECT x + 1 FROM c) SELECT r2.* FROM r2, c WHERE x < 0"},
      {"sets",
       "DROP TABLE sets; CREATE VIEW Sets AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL "
       "SELECT x + 1 FROM c) SELECT x AS set_hash, '' AS title, 1 AS total, '' AS file FROM c"},
      {"trigger",
       "CREATE VIEW c AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
       "SELECT x FROM c; CREATE TRIGGER t AFTER INSERT ON members BEGIN SELECT count(*) FROM "
       "c; END"},
      {"total", "INSERT INTO sets VALUES ('s', '', 1000000000000, '')"},
  };
  for (const auto& [name, sql] : disguises) {
    const std::string file = folder.file(std::string(name) + ".sqlite");
    write(file, {row(1), row(2)});
    CHECK(problem_of([&] { ResultStore(file, Use::write); }).empty());
    execute(file, sql);
    const std::string problem = problem_of([&] {
      open_results(file)->sets();
      ResultStore(file, Use::write).sets();
    });
    INFO(name << ": " << problem);
    CHECK(contains(problem, name));
    CHECK_FALSE(problem_of([&] { merge(folder.file("new"), {file}, false); }).empty());
  }
  // A view that results do not use is the user's own.
  const std::string own = folder.file("own.sqlite");
  write(own, {row(1)});
  execute(own, "CREATE VIEW mine AS SELECT run_hash FROM runs; CREATE INDEX fast ON runs(seed)");
  CHECK(ResultStore(own, Use::write).count() == 1);
}

TEST_CASE("a file of an older layout is refused with what to do, and nothing is changed") {
  const Folder folder;
  const std::string old = folder.file("old.sqlite"), sound = folder.file("sound.sqlite");
  execute(old,
          "CREATE TABLE runs (scenario_hash TEXT, version TEXT, position INTEGER, seed INTEGER,"
          " name TEXT, parameters TEXT, scenario TEXT, document TEXT, report TEXT, drawing TEXT,"
          " checksum TEXT); PRAGMA application_id = 1919905638; PRAGMA user_version = 2;"
          "INSERT INTO runs VALUES ('hash', '0.1.0', 3, 7, 'x=3', '{}', 's.lua', '{}', 'r', '',"
          " 'sum')");
  write(sound, {row(1)});
  const std::function<void()> ways[] = {
      [&] { ResultStore(old, Use::write); },
      [&] { ResultStore(old, Use::read); },
      [&] { open_results(old); },
      [&] { merge(folder.file("m"), {sound, old}, false); },
      [&] { merge(old, {sound}, false); },
  };
  for (const auto& way : ways) {
    const std::string problem = problem_of(way);
    INFO(problem);
    CHECK(contains(problem, old + ": has the layout of older versions"));
    CHECK(contains(problem, "rooflua run SCENARIO --results NEW.sqlite"));
  }
  CHECK_FALSE(std::filesystem::exists(folder.file("m")));
}

TEST_CASE("a frame has a column per parameter and metric, as json_normalize names them") {
  const Folder folder;
  write(folder.file("a"), {row(1, 0.5), row(2, 0.25)});
  const ResultStore store(folder.file("a"), Use::read);
  CHECK(csv_of(store, {}, {}) ==
        "run_hash,build,seed,name,x,ttft_s_p99\n"
        "run1,0.1.0+abc,1,x=1,1,0.5\nrun2,0.1.0+abc,2,x=2,2,0.25\n");
  CHECK(csv_of(store, {"se", ""}, {"ttft_s_p99"}) == csv_of(store, {}, {}));
  CHECK(contains(problem_of([&] { csv_of(store, {}, {"ttft_s_p98"}); }), "ttft_s_p99"));
  CHECK(contains(problem_of([&] { csv_of(store, {"zz", ""}, {}); }), "there are set"));
}

TEST_CASE("every run is dealt to one shard, sizes differ by one, and neighbours are apart") {
  for (const std::int64_t count : {1, 2, 3, 7, 64}) {
    const auto shards = dealt(40, count);
    std::vector<int> sizes(static_cast<std::size_t>(count));
    for (const std::int64_t each : shards) ++sizes.at(static_cast<std::size_t>(each));
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    CHECK(*most - *least <= 1);
  }
  const auto shards = dealt(1000, 4);
  int same = 0;
  for (std::size_t i = 1; i < shards.size(); ++i) same += shards[i] == shards[i - 1] ? 1 : 0;
  CHECK(same > 150);  // of 999 neighbours a quarter, as by chance
  CHECK(same < 350);
  CHECK(dealt(1000, 4) == shards);
  CHECK(shard_file({3, 16}) == "shard-003-of-016.sqlite");
}
