#include "base/workers.h"

#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

Json square(std::size_t piece) {
  return Json(static_cast<std::int64_t>(piece * piece));
}

struct Gathered {
  std::vector<Json> documents;
  std::vector<std::string> problems;
  std::vector<int> times;
  bool finished = false;
};

Gathered gather(std::size_t count, int jobs, const std::function<Json(std::size_t)>& work) {
  Gathered out;
  out.documents.resize(count);
  out.problems.resize(count);
  out.times.resize(count);
  WorkOptions options;
  options.jobs = jobs;
  out.finished = in_workers(count, options, work, [&](WorkDone&& done) {
    out.documents[done.piece] = std::move(done.document);
    out.problems[done.piece] = done.problem;
    ++out.times[done.piece];
  });
  return out;
}

}  // namespace

TEST_CASE("every piece is done once, whatever the number of jobs") {
  for (const int jobs : {1, 2, 7, 100}) {
    const Gathered all = gather(23, jobs, square);
    CHECK(all.finished);
    for (std::size_t i = 0; i < 23; ++i) {
      CHECK(all.times[i] == 1);
      CHECK(all.documents[i].integer() == static_cast<std::int64_t>(i * i));
    }
  }
  CHECK(gather(0, 3, square).finished);
}

TEST_CASE("an exception of a piece is the problem of that piece only") {
  const Gathered all = gather(6, 2, [](std::size_t piece) {
    if (piece % 2 == 1) throw std::runtime_error("odd " + std::to_string(piece));
    return square(piece);
  });
  CHECK(all.problems[3] == "odd 3");
  CHECK(all.problems[4].empty());
  CHECK(all.documents[4].integer() == 16);
}

TEST_CASE("a piece that kills its process costs itself; the others are done") {
  const Gathered all = gather(9, 2, [](std::size_t piece) {
    if (piece == 2) ::kill(getpid(), SIGKILL);
    if (piece == 5) _exit(3);
    return square(piece);
  });
  CHECK(all.problems[2].find("died: Killed") != std::string::npos);
  CHECK(all.problems[5].find("status 3") != std::string::npos);
  for (const std::size_t i : {0, 1, 3, 4, 6, 7, 8}) {
    CHECK(all.times[i] == 1);
    CHECK(all.documents[i].integer() == static_cast<std::int64_t>(i * i));
  }
}

TEST_CASE("workers that cannot begin are an error, not tried for ever") {
  WorkOptions options;
  options.jobs = 3;
  options.in_process = [] { throw std::runtime_error("no timer"); };
  CHECK_THROWS_AS(in_workers(5, options, square, [](WorkDone&&) {}), Error);
}

TEST_CASE("documents longer than a pipe holds arrive whole") {
  const Gathered all =
      gather(3, 2, [](std::size_t piece) { return Json(std::string(1'000'000 + piece, 'x')); });
  for (std::size_t i = 0; i < 3; ++i) CHECK(all.documents[i].text().size() == 1'000'000 + i);
}

namespace {

std::atomic<int> stop{0};

void on_told(int) {
  stop = 1;
}

}  // namespace

TEST_CASE("after a stop no further piece is begun, in no process") {
  WorkOptions options;
  options.jobs = 2;
  options.stop = &stop;
  int done = 0;
  std::signal(SIGTERM, on_told);  // the parent stops its workers by SIGTERM
  const auto slowly = [](std::size_t piece) {
    usleep(2000);
    return square(piece);
  };
  const bool finished = in_workers(1000, options, slowly, [&](WorkDone&&) {
    if (++done == 3) stop = 1;
  });
  std::signal(SIGTERM, SIG_DFL);
  stop = 0;
  CHECK_FALSE(finished);
  CHECK(done >= 3);
  CHECK(done < 900);
}
