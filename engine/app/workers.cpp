#include "app/workers.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/error.h"
#include "base/json.h"

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

std::string read_all(int pipe) {
  std::string text;
  char buffer[65536];
  for (ssize_t n; (n = ::read(pipe, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

/// One line per variant: {variant, document, text, evidence} or {variant, error}.
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
      line["error"] = std::string(error.what());
    }
    write_all(pipe, dump_json(line) + "\n");
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
    work(first, step, count, ends[1], run);
    ::close(ends[1]);
    _exit(0);
  }
  ::close(ends[1]);
  return {process, ends[0]};
}

void read_results(const std::string& text, std::vector<script::VariantResult>& results,
                  std::vector<char>& there) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) return;  // cut off: that variant is missing
    const Json line = parse_json(std::string_view(text).substr(begin, end - begin), "worker");
    begin = end + 1;
    const auto variant = static_cast<std::size_t>(line.find("variant")->integer());
    if (const Json* error = line.find("error")) throw Error("", error->text());
    script::VariantResult& result = results[variant];
    result.document = *line.find("document");
    result.text = line.find("text")->text();
    const Json::Array& shares = line.find("evidence")->items();
    for (std::size_t i = 0; i < result.evidence.size(); ++i)
      result.evidence[i] = shares[i].number();
    result.drawing = {*line.find("sketch"), *line.find("breakdown")};
    there[variant] = 1;
  }
}

}  // namespace

std::vector<script::VariantResult> in_workers(
    std::size_t count, int jobs, const std::function<script::VariantResult(std::size_t)>& run) {
  std::vector<script::VariantResult> results(count);
  const std::size_t workers = std::min<std::size_t>(static_cast<std::size_t>(jobs), count);
  if (workers <= 1) {
    for (std::size_t variant = 0; variant < count; ++variant) results[variant] = run(variant);
    return results;
  }
  std::vector<Worker> started;
  for (std::size_t i = 0; i < workers; ++i) started.push_back(start(i, workers, count, run));
  std::vector<char> there(count, 0);
  std::vector<std::string> texts;
  for (const Worker& each : started) {
    texts.push_back(read_all(each.pipe));
    ::close(each.pipe);
    int status = 0;
    ::waitpid(each.process, &status, 0);
  }
  for (const std::string& text : texts) read_results(text, results, there);
  for (std::size_t variant = 0; variant < count; ++variant) {
    if (there[variant] == 0)
      throw Error("variant " + std::to_string(variant + 1), "its worker process died");
  }
  return results;
}

}  // namespace rooflua::app
