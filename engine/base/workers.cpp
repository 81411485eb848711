#include "base/workers.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "base/error.h"

namespace rooflua {

namespace {

/// The number of the next free piece, in memory that all processes share.
class Counter {
 public:
  Counter() {
    void* memory = mmap(nullptr, sizeof(std::atomic<std::size_t>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error("--jobs", "no memory to share with worker processes");
    next_ = new (memory) std::atomic<std::size_t>(0);
  }
  ~Counter() { munmap(next_, sizeof(std::atomic<std::size_t>)); }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  std::size_t take() { return next_->fetch_add(1); }
  std::size_t taken() const { return next_->load(); }

 private:
  std::atomic<std::size_t>* next_;
};

struct Worker {
  pid_t process = -1;
  int pipe = -1;
  std::string text;                  // the beginning of a line whose end was not read yet
  std::optional<std::size_t> piece;  // the piece that the process works on
  bool began = false;                // whether the process has begun a piece
};

bool stopped(const WorkOptions& options) {
  return options.stop != nullptr && options.stop->load() != 0;
}

void send(int pipe, const Json& message) {
  const std::string line = dump_json(message) + "\n";
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t n = ::write(pipe, line.data() + written, line.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(70);  // the parent has closed the pipe
    written += static_cast<std::size_t>(n);
  }
}

/// Runs in a worker process. Writes a line {begin} before each piece, and a line {piece, document}
/// or {piece, problem} after it.
void take_pieces(int pipe, std::size_t count, Counter& counter, const WorkOptions& options,
                 const std::function<Json(std::size_t)>& work) {
  if (options.in_process) options.in_process();
  while (!stopped(options)) {
    const std::size_t piece = counter.take();
    if (piece >= count) break;
    Json begin = Json::object();
    begin["begin"] = static_cast<std::int64_t>(piece);
    send(pipe, begin);
    Json line = Json::object();
    line["piece"] = static_cast<std::int64_t>(piece);
    try {
      if (options.before_each) options.before_each();
      line["document"] = work(piece);
    } catch (const std::exception& error) {
      line["problem"] = message_of(error);
    }
    send(pipe, line);
    if (options.leave && options.leave()) break;
  }
}

/// Never returns: the parent's destructors, run in this process, would end the other workers.
[[noreturn]] void live(int pipe, std::size_t count, Counter& counter, const WorkOptions& options,
                       const std::function<Json(std::size_t)>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    take_pieces(pipe, count, counter, options, work);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rooflua: a worker process: %s\n", message_of(error).c_str());
    _exit(70);
  }
  _exit(0);
}

Worker start(std::size_t count, Counter& counter, const WorkOptions& options,
             const std::function<Json(std::size_t)>& work) {
  int ends[2];
  if (::pipe(ends) != 0) throw Error("--jobs", "no pipe to a worker process");
  std::fflush(nullptr);
  const pid_t process = ::fork();
  if (process < 0) throw Error("--jobs", "a worker process could not be started");
  if (process == 0) {
    ::close(ends[0]);
    live(ends[1], count, counter, options, work);
  }
  ::close(ends[1]);
  Worker worker;
  worker.process = process;
  worker.pipe = ends[0];
  return worker;
}

/// Handles the whole lines that a worker has sent so far.
void read_lines(Worker& worker, const std::function<void(WorkDone&&)>& done) {
  for (std::size_t end; (end = worker.text.find('\n')) != std::string::npos;) {
    Json line = parse_json(std::string_view(worker.text).substr(0, end), "worker");
    worker.text.erase(0, end + 1);
    if (const Json* begin = line.find("begin")) {
      worker.piece = static_cast<std::size_t>(begin->integer());
      worker.began = true;
      continue;
    }
    worker.piece.reset();
    WorkDone result;
    result.piece = static_cast<std::size_t>(line.find("piece")->integer());
    if (const Json* problem = line.find("problem")) {
      result.problem = problem->text();
    } else {
      result.document = std::move(line["document"]);
    }
    done(std::move(result));
  }
}

/// Waits for the end of a process whose pipe is closed. The piece that it worked on is lost.
/// @return false if the process ended before its first piece: another process would end as well
bool bury(Worker& worker, const std::function<void(WorkDone&&)>& done) {
  ::close(worker.pipe);
  int status = 0;
  while (::waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!worker.piece) return worker.began || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
  WorkDone lost;
  lost.piece = *worker.piece;
  lost.problem = "its worker process died";
  if (WIFSIGNALED(status)) lost.problem += std::string(": ") + strsignal(WTERMSIG(status));
  if (WIFEXITED(status)) lost.problem += " with status " + std::to_string(WEXITSTATUS(status));
  done(std::move(lost));
  return true;
}

/// Ends the processes that still run when the parent returns early.
struct Crew {
  std::vector<Worker> workers;
  ~Crew() {
    for (const Worker& each : workers) {
      ::kill(each.process, SIGKILL);
      ::close(each.pipe);
      ::waitpid(each.process, nullptr, 0);
    }
  }
};

}  // namespace

bool in_workers(std::size_t count, const WorkOptions& options,
                const std::function<Json(std::size_t)>& work,
                const std::function<void(WorkDone&&)>& done) {
  Counter counter;
  Crew crew;
  const std::size_t wanted =
      std::min<std::size_t>(static_cast<std::size_t>(std::max(options.jobs, 1)), count);
  const auto hire = [&] { crew.workers.push_back(start(count, counter, options, work)); };
  while (crew.workers.size() < wanted) hire();
  std::optional<std::chrono::steady_clock::time_point> told;
  const auto is_patient = [&] {
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - *told;
    return options.patience_s <= 0 || waited.count() < options.patience_s;
  };
  while (!crew.workers.empty()) {
    if (stopped(options) && !told) {
      told = std::chrono::steady_clock::now();
      for (const Worker& each : crew.workers) ::kill(each.process, SIGTERM);
    }
    if (told && !is_patient()) return false;  // the crew is killed
    std::vector<pollfd> polls;
    for (const Worker& each : crew.workers) polls.push_back({each.pipe, POLLIN, 0});
    if (::poll(polls.data(), polls.size(), 200) <= 0) continue;
    for (std::size_t i = polls.size(); i-- > 0;) {
      if (polls[i].revents == 0) continue;
      char buffer[65536];
      const ssize_t n = ::read(polls[i].fd, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n > 0) {
        crew.workers[i].text.append(buffer, static_cast<std::size_t>(n));
        read_lines(crew.workers[i], done);
        continue;
      }
      Worker ended = std::move(crew.workers[i]);
      crew.workers.erase(crew.workers.begin() + static_cast<std::ptrdiff_t>(i));
      const bool worked = bury(ended, done);
      if (stopped(options) || counter.taken() >= count) continue;
      if (!worked) throw Error("--jobs", "a worker process ended before it could begin");
      hire();
    }
  }
  return !stopped(options);
}

}  // namespace rooflua
