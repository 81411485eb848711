#include "app/workers.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "base/json.h"
#include "script/interrupt.h"

namespace rooflua::app {

namespace {

struct Worker {
  pid_t process = -1;
  int pipe = -1;
};

void write_all(int pipe, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(pipe, text.data() + written, text.size() - written);
    if (n <= 0) _exit(70);
    written += static_cast<std::size_t>(n);
  }
}

bool was_stopped() {
  return script::last_stop() != script::StopReason::none;
}

/// All that the workers write. A Ctrl-C of this process is passed on to them, once.
std::vector<std::string> read_all(const std::vector<Worker>& workers) {
  std::vector<std::string> texts(workers.size());
  std::vector<pollfd> open;
  for (const Worker& each : workers) open.push_back({each.pipe, POLLIN, 0});
  bool told = false;
  for (std::size_t left = open.size(); left > 0;) {
    ::poll(open.data(), open.size(), 100);
    if (was_stopped() && !told) {
      told = true;
      for (const Worker& each : workers) ::kill(each.process, SIGTERM);
    }
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i].fd < 0 || (open[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      char buffer[65536];
      const ssize_t n = ::read(open[i].fd, buffer, sizeof buffer);
      if (n > 0) {
        texts[i].append(buffer, static_cast<std::size_t>(n));
      } else {
        open[i].fd = -1;  // poll passes over it
        --left;
      }
    }
  }
  return texts;
}

/// One line per variant: {variant, document, text, evidence} or {variant, error}; the last one of a
/// worker that was stopped may be {variant, stopped}.
void work(std::size_t first, std::size_t step, std::size_t count, int pipe,
          const std::function<script::VariantResult(std::size_t)>& run) {
  for (std::size_t variant = first; variant < count; variant += step) {
    Json line = Json::object();
    line["variant"] = static_cast<std::int64_t>(variant);
    try {
      script::VariantResult result = run(variant);
      line["document"] = std::move(result.document);
      line["text"] = result.text;
      Json evidence = Json::array();
      for (const double share : result.evidence) evidence.push_back(share);
      line["evidence"] = std::move(evidence);
      line["sketch"] = std::move(result.drawing.sketch);
      line["breakdown"] = std::move(result.drawing.breakdown);
    } catch (const std::exception& error) {
      line[was_stopped() ? "stopped" : "error"] = std::string(error.what());
    }
    write_all(pipe, dump_json(line) + "\n");
    if (was_stopped()) return;
  }
}

Worker start(std::size_t first, std::size_t step, std::size_t count,
             const std::function<script::VariantResult(std::size_t)>& run) {
  int ends[2];
  if (::pipe(ends) != 0) throw Error("--jobs", "no pipe to a worker process");
  std::fflush(nullptr);
  const pid_t process = ::fork();
  if (process < 0) throw Error("--jobs", "a worker process could not be started");
  if (process == 0) {
    ::close(ends[0]);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    script::continue_in_worker();
    work(first, step, count, ends[1], run);
    ::close(ends[1]);
    _exit(0);
  }
  ::close(ends[1]);
  return {process, ends[0]};
}

/// @return why a variant was stopped before anything was known; "" if none was
std::string read_results(const std::string& text, std::vector<script::VariantResult>& results) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // cut off: that variant is missing
    const Json line = parse_json(std::string_view(text).substr(begin, end - begin), "worker");
    begin = end + 1;
    const auto variant = static_cast<std::size_t>(line.find("variant")->integer());
    if (const Json* error = line.find("error")) throw Error("", error->text());
    if (const Json* stopped = line.find("stopped")) return stopped->text();
    script::VariantResult& result = results[variant];
    result.document = *line.find("document");
    result.text = line.find("text")->text();
    const Json::Array& shares = line.find("evidence")->items();
    for (std::size_t i = 0; i < result.evidence.size(); ++i)
      result.evidence[i] = shares[i].number();
    result.drawing = {*line.find("sketch"), *line.find("breakdown")};
  }
  return "";
}

/// In this process, until something stops it.
void run_here(std::vector<script::VariantResult>& results,
              const std::function<script::VariantResult(std::size_t)>& run) {
  for (std::size_t variant = 0; variant < results.size() && !was_stopped(); ++variant) {
    try {
      results[variant] = run(variant);
    } catch (const Error&) {
      if (variant == 0 || !was_stopped()) throw;
    }
  }
}

}  // namespace

std::vector<script::VariantResult> in_workers(
    std::size_t count, int jobs, const std::function<script::VariantResult(std::size_t)>& run) {
  std::vector<script::VariantResult> results(count);
  const std::size_t workers = std::min<std::size_t>(static_cast<std::size_t>(jobs), count);
  if (workers <= 1) {
    run_here(results, run);
    return results;
  }
  std::vector<Worker> started;
  for (std::size_t i = 0; i < workers; ++i) started.push_back(start(i, workers, count, run));
  const std::vector<std::string> texts = read_all(started);
  std::vector<char> complete;
  for (const Worker& each : started) {
    ::close(each.pipe);
    int status = 0;
    ::waitpid(each.process, &status, 0);
    complete.push_back(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  std::string stopped;
  for (const std::string& text : texts) {
    const std::string why = read_results(text, results);
    if (stopped.empty()) stopped = why;
  }
  bool anything = false, partial = !stopped.empty();
  for (const script::VariantResult& each : results) {
    anything |= each.known();
    partial |= each.partial() != nullptr;
  }
  if (!anything && partial) throw Error("", stopped);
  for (std::size_t variant = 0; variant < count; ++variant) {
    if (!results[variant].known() && (!partial || complete[variant % workers] == 0))
      throw Error("variant " + std::to_string(variant + 1), "its worker process died");
  }
  return results;
}

}  // namespace rooflua::app
