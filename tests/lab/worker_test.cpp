// The process that answers a question, and the copies of it that answer early.

#include "lab/worker.h"

#include <event2/event.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "http/door.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;
using lab::Worker;

namespace {

volatile std::sig_atomic_t is_stopped = 0;

/// Computes until the clock has gone on for so long, or until it is stopped, as a run does.
void work_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (is_stopped == 0 && std::chrono::steady_clock::now() < end) {
  }
}

std::string rest_of(int file) {
  std::string out(100, '\0');
  const ssize_t length = ::read(file, out.data(), out.size());
  out.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return out;
}

}  // namespace

TEST_CASE(
    "a copy that answers early reads on in a file that is being read, and so does the other") {
  std::signal(SIGTERM, [](int) { is_stopped = 1; });
  const std::string path = test::scratch() / "text";
  std::ofstream(path) << "firstand the rest";
  event_base* base = http::new_base("lab");
  std::string whole;
  std::vector<std::string> early;
  {
    const Worker worker(base,
                        [&](const Worker::Write& write) {
                          const int file = ::open(path.c_str(), O_RDONLY);
                          char first[5];
                          if (::read(file, first, sizeof first) != sizeof first) return;
                          work_for(std::chrono::milliseconds(300));
                          write(rest_of(file));
                        },
                        {[&](const std::string& line) { whole = line; },
                         [&](const std::string& line) { early.push_back(line); },
                         [&] { event_base_loopbreak(base); }});
    event_base_dispatch(base);
  }
  event_base_free(base);
  std::signal(SIGTERM, SIG_DFL);
  CHECK(whole == "and the rest");
  REQUIRE(!early.empty());
  for (const std::string& each : early) CHECK(each == "and the rest");
}
