#include "measure/sweep.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/measure/change_rows.h"
#include "tests/scratch.h"

using namespace rooflua;

namespace {

struct File {
  std::filesystem::path path = rooflua::test::scratch() / "sweep";
  File() { std::filesystem::remove(path); }
  ~File() { std::filesystem::remove(path); }
};

std::vector<SweepRow> rows_of(std::size_t count) {
  std::vector<SweepRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    Json parameters = Json::object();
    parameters["x"] = static_cast<std::int64_t>(i);
    rows.push_back({"x=" + std::to_string(i), parameters, 1, "run" + std::to_string(i),
                    static_cast<std::int64_t>(i)});
  }
  return rows;
}

Json answer(std::size_t row) {
  Json out = Json::object();
  out["document"] = Json::object();
  out["document"]["y"] = 0.1 * static_cast<double>(row);
  out["report"] = "== x=" + std::to_string(row) + "\nrow " + std::to_string(row);
  return out;
}

Json must_not_run(std::size_t) {
  throw Error("", "was run again");
}

SweepOptions options(const File* file, int jobs) {
  SweepOptions out;
  out.jobs = jobs;
  out.quiet = true;
  if (file != nullptr) out.results = file->path.string();
  out.set = {"00ff", "a title", 17, "a.lua"};
  out.build = "0.1.0+abc";
  return out;
}

std::string text(const SweepOutcome& outcome) {
  return dump_json(Json(Json::Array(outcome.results)));
}

}  // namespace

TEST_CASE("a sweep gives the same for any number of jobs, with and without a file") {
  const std::string expected = text(run_sweep(rows_of(17), options(nullptr, 1), answer));
  for (const int jobs : {1, 4}) {
    const File file;
    CHECK(text(run_sweep(rows_of(17), options(&file, jobs), answer)) == expected);
    const SweepOutcome again = run_sweep(rows_of(17), options(&file, jobs), must_not_run);
    CHECK(text(again) == expected);
    CHECK(again.reused == 17);
  }
}

TEST_CASE("only missing rows are run; what failed or died is missing") {
  const File file;
  const SweepOutcome first = run_sweep(rows_of(8), options(&file, 2), [](std::size_t row) {
    if (row == 2) throw Error("", "no");
    if (row == 5) ::kill(getpid(), SIGKILL);
    return answer(row);
  });
  CHECK(first.problems[2] == "no");
  CHECK(first.results[5].is_null());
  const SweepOutcome second = run_sweep(rows_of(8), options(&file, 2), [](std::size_t row) {
    if (row != 2 && row != 5) throw Error("", "was run again");
    return answer(row);
  });
  CHECK(second.reused == 6);
  CHECK(text(second) == text(run_sweep(rows_of(8), options(nullptr, 1), answer)));
}

TEST_CASE("a row that was altered is run again, whatever was altered, and nothing else is") {
  const std::string expected = text(run_sweep(rows_of(4), options(nullptr, 1), answer));
  for (const std::string change :
       {"document = '{}'", "document = ''", "document = substr(document, 1, 5)", "document = '7'",
        "host = 'elsewhere'", "parameters = '{}'", "seed = 9", "report = ''", "drawing = '7'",
        "scenario = 'b.lua'", "checksum = ''", "document = x'00ff'", "run_hash = 'other'"}) {
    INFO(change);
    const File file;
    run_sweep(rows_of(4), options(&file, 1), answer);
    test::change_rows(file.path, change + " WHERE run_hash = 'run2'");
    const auto only_the_second = [](std::size_t row) {
      if (row != 2) throw Error("", "was run again");
      return answer(row);
    };
    const SweepOutcome again = run_sweep(rows_of(4), options(&file, 1), only_the_second);
    CHECK(text(again) == expected);
    CHECK(again.reused == 3);
    // The file is whole again.
    CHECK(text(run_sweep(rows_of(4), options(&file, 1), must_not_run)) == expected);
  }
}

TEST_CASE("a sweep with one more run runs one more, and takes names from where it stands now") {
  const File file;
  run_sweep(rows_of(3), options(&file, 1), answer);
  std::vector<SweepRow> more = rows_of(4);
  more[1].name = "other";
  more[1].position = 0;
  std::swap(more[0], more[1]);
  SweepOptions now = options(&file, 1);
  now.set = {"11ee", "more", 4, "b.lua"};
  const SweepOutcome outcome = run_sweep(more, now, [](std::size_t row) {
    if (row != 3) throw Error("", "was run again");
    return answer(row);
  });
  CHECK(outcome.reused == 3);
  CHECK(outcome.problems[3].empty());
  CHECK(outcome.results[0].find("report")->text() == "== other\nrow 1");
  const ResultStore store(file.path, ResultStore::Use::read);
  REQUIRE(store.sets().size() == 2);
  CHECK(store.members("11ee").size() == 3);  // two of them stand at one position
  CHECK(store.members("11ee").front().name == "x=0");
  CHECK(store.count() == 4);
}

TEST_CASE("runs of one content are run once") {
  std::vector<SweepRow> rows = rows_of(3);
  rows[2].run_hash = rows[0].run_hash;
  const File file;
  const SweepOutcome outcome = run_sweep(rows, options(&file, 2), [](std::size_t row) {
    if (row == 2) throw Error("", "was run twice");
    return answer(row);
  });
  CHECK(outcome.results[2].find("report")->text() == "== x=2\nrow 0");
  CHECK(run_sweep(rows, options(&file, 1), must_not_run).reused == 3);
}

TEST_CASE("rows of another build are kept and not used; other files are read and not written") {
  const File file;
  run_sweep(rows_of(2), options(&file, 1), answer);
  SweepOptions newer = options(&file, 1);
  newer.build = "0.2.0";
  const SweepOutcome again = run_sweep(rows_of(2), newer, answer);
  CHECK(again.reused == 0);
  CHECK(again.foreign == 2);
  const std::filesystem::path own = file.path.string() + ".own";
  SweepOptions beside = newer;
  beside.results = own.string();
  beside.also = {file.path.string()};
  CHECK(run_sweep(rows_of(2), beside, must_not_run).reused == 2);
  CHECK(ResultStore(own, ResultStore::Use::read).count() == 0);
  std::filesystem::remove(own);
}

TEST_CASE("failures are counted, with their problem, until the run succeeds") {
  const File file;
  const auto fails = [](std::size_t row) {
    if (row == 1) throw Error("", "no memory");
    return answer(row);
  };
  run_sweep(rows_of(2), options(&file, 1), fails);
  run_sweep(rows_of(2), options(&file, 1), fails);
  const auto failures = ResultStore(file.path, ResultStore::Use::read).failures("00ff");
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].position == 1);
  CHECK(failures[0].problem == "no memory");
  CHECK(failures[0].tries == 2);
}
