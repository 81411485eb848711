// rooflua attach: a server as the files that a person holds of it describe it
// (scripts/lib/rooflua/attach).

#include <cstdio>
#include <utility>

#include "app/commands.h"
#include "app/deployment/asked.h"
#include "app/deployment/visit.h"
#include "app/options.h"
#include "app/output.h"
#include "app/quote.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_text.h"
#include "measure/html/sections.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

constexpr double attach_limit_s = 60;
constexpr double attach_grace_s =
    30;  // for what was begun when the limit came, and for the calibration

}  // namespace

void add_attach(const Command& app) {
  const Command command =
      app.command("attach", "A server by its files: believed and seen, what limits it, what pays");
  auto* a = new AttachArguments;
  command.option("file", a->files, "Start-up log, scrape, result of a benchmark, ...");
  command.option("--url", a->url, "http://HOST:PORT of a server that runs; its pages are asked for",
                 {.check = given()});
  command.option("--watch", a->watched_s,
                 "Seconds between two scrapes of --url, a measured run (10)",
                 {.check = whole(0, 86400)});
  command.option("--hardware", a->asked.hardware, "Where no file names the GPU");
  command.option("--engine", a->asked.engine, "Where no file names the release: \"sglang 0.5.9\"");
  command.option("--model", a->asked.model, "A model in place of the one that the files name");
  command.option("--bench", a->bench, bench_help, {.check = given()});
  command.option("--write", a->write,
                 "Write all of it as one scenario, which runs without the files");
  command.option("--html", a->html, "Write believed and seen over time as one page");
  command.option("--limit", a->limit_s, "Seconds after which no further setting is tried (60)",
                 {.check = between(1, 1e6)});
  command.option("--seed", a->asked.seed, "Of the load that is simulated", {.check = seeds()});
  command.option("--jobs", a->asked.jobs, "Worker processes for runs", {.check = whole(1, 1024)});
  command.option("--json", a->asked.json, "Write the answer to a file (- = stdout, alone)");
  command.runs([a](const std::filesystem::path& home) { return attach(*a, home); });
}

int attach(const AttachArguments& arguments, const std::filesystem::path& home) {
  check_files({arguments.asked.json, arguments.write, arguments.html}, arguments.files);
  if (arguments.files.empty() && arguments.url.empty())
    throw Misused("attach",
                  "file is missing: a start-up log, a result, ..., or --url http://HOST:PORT");
  const Visit visit(arguments.url, arguments.watched_s);
  Json options = Json::object();
  options["files"] = texts_json(arguments.files);
  options["pages"] = texts_json(visit.files());
  put(options, "hardware", arguments.asked.hardware);
  put(options, "engine", arguments.asked.engine);
  put(options, "model", arguments.asked.model);
  put(options, "bench", arguments.bench);
  put(options, "seed", arguments.asked.seed);
  put(options, "limit_s", arguments.limit_s);
  options["jobs"] = arguments.asked.jobs;
  put(options, "write", arguments.write);
  options["page"] = !arguments.html.empty();
  script::Vm vm({.home = home,
                 .timeout_s = arguments.limit_s.value_or(attach_limit_s) + attach_grace_s,
                 .print_to_stderr = arguments.asked.json == "-"});
  Json found;
  try {
    found = vm.call("rooflua.attach.command", "run", {options});
  } catch (const Error& error) {
    throw Error("", visit.named(error.what()));
  }
  if (arguments.asked.json != "-")
    std::fputs(printable(visit.named(text_of(found, "text"))).c_str(), stdout);
  if (!arguments.asked.json.empty())
    write_document(visit.named_in(*found.find("document")), arguments.asked.json);
  if (!arguments.write.empty())
    write_text(visit.named(found.find("written")->text()), arguments.write);
  if (!arguments.html.empty())
    write_text(visit.named(html::described_page(*found.find("page"))), arguments.html);
  return 0;
}

}  // namespace rooflua::app
