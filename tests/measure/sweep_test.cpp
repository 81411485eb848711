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
    rows.push_back({"x=" + std::to_string(i), parameters, 1});
  }
  return rows;
}

Json answer(std::size_t row) {
  Json out = Json::object();
  out["document"] = Json::object();
  out["document"]["y"] = 0.1 * static_cast<double>(row);
  out["report"] = "row " + std::to_string(row);
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
  out.set = {"00ff", "0.1.0", "a.lua"};
  return out;
}

std::string text(const SweepOutcome& outcome) {
  return dump_json(Json(Json::Array(outcome.results)));
}

std::string problem_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
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
        "name = ''", "parameters = '{}'", "seed = 9", "report = ''", "drawing = '7'",
        "scenario = 'b.lua'", "checksum = ''", "document = x'00ff'", "position = 99"}) {
    INFO(change);
    const File file;
    run_sweep(rows_of(4), options(&file, 1), answer);
    test::change_rows(file.path, change + " WHERE position = 2");
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

TEST_CASE("a file whose rows are other runs under the same hash is refused") {
  const File file;
  run_sweep(rows_of(3), options(&file, 1), answer);
  std::vector<SweepRow> other = rows_of(3);
  other[1].parameters["x"] = 99;
  CHECK(problem_of([&] { run_sweep(other, options(&file, 1), answer); }).find("row 1") !=
        std::string::npos);
  other = rows_of(3);
  other[2].seed = 4;
  CHECK(problem_of([&] { run_sweep(other, options(&file, 1), answer); }).find("row 2") !=
        std::string::npos);
}
