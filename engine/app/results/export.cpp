// `rooflua results export`.

#include <cstdio>

#include "app/commands.h"
#include "app/output.h"
#include "app/results/results.h"
#include "base/error.h"
#include "base/json_lines.h"
#include "measure/store/frame.h"
#include "measure/store/lines.h"
#include "measure/store/merge.h"
#include "measure/store/prometheus.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

void refuse_for_lines(const ResultsArguments& arguments) {
  if (!arguments.set.empty() || !arguments.build.empty() || !arguments.select.empty()) {
    throw Misused("--format jsonl",
                  "writes everything that the file holds, to be merged elsewhere; --set, --build "
                  "and --select are for csv and json");
  }
}

/// The document without the lists of its summary (replicas, for one), which are most of it and
/// which a report of llm-d has no place for.
Json without_lists(const std::string& document) {
  std::string text = "{";
  const auto add = [&](const JsonLines::Member& member) {
    if (text.back() != '{') text += ',';
    const char* quote = member.is_text ? "\"" : "";
    text.append("\"").append(member.key).append("\":");
    text.append(quote).append(member.value).append(quote);
  };
  for (const JsonLines::Member& each : members_in(document, "document")) {
    if (each.is_text || each.key != "summary" || each.value.front() != '{') {
      add(each);
      continue;
    }
    text += text.back() == '{' ? "\"summary\":{" : ",\"summary\":{";
    for (const JsonLines::Member& inner : members_in(each.value, "document")) {
      if (inner.is_text || inner.value.front() != '[') add(inner);
    }
    text += '}';
  }
  return parse_json(text += '}', "document");
}

/// A report of llm-d per run and line (scripts/lib/rooflua/formats/write_llm_d.lua).
std::string llm_d_of(const ResultStore& store, const FrameChoice& choice) {
  script::VmOptions options;
  options.home = find_home({});
  script::Vm vm(options);
  std::string out;
  each_chosen(store, choice, [&](const NamedRun& run) {
    Json variant = without_lists(run.row.document), facts = Json::object();
    variant["name"] = run.name;
    facts["uid"] = run.row.run_hash;
    facts["build"] = run.row.build;
    facts["seed"] = run.row.seed;
    facts["scenario"] = run.row.scenario;
    if (!run.set.set_hash.empty()) facts["eid"] = run.set.set_hash;
    if (!run.set.title.empty()) facts["title"] = run.set.title;
    std::vector<Json> arguments(1, "llm-d");
    arguments.push_back(std::move(variant));
    arguments.push_back(std::move(facts));
    out += dump_json(vm.call("rooflua.formats.written", "document", arguments));
    out += '\n';
  });
  return out;
}

std::string text_of(const ResultStore& store, const FrameChoice& choice,
                    const std::string& format) {
  if (format == "prometheus") return prometheus_of(store, choice);
  if (format == "json") return document_of(store, choice);
  return llm_d_of(store, choice);
}

}  // namespace

int results_export(const ResultsArguments& arguments) {
  const std::string to = arguments.to.empty() ? "-" : arguments.to;
  check_folder(to);
  const auto store = open_results(arguments.file);
  const FrameChoice choice{arguments.set, arguments.build};
  if (arguments.format == "jsonl") {
    refuse_for_lines(arguments);
    std::string out;
    write_lines(*store, [&](const std::string& line) { out += line; });
    write_text(out, to);
  } else if (arguments.format == "csv") {
    write_text(csv_of(*store, choice, arguments.select), to);
  } else {
    if (!arguments.select.empty()) throw Misused("--select", "is for --format csv");
    write_text(text_of(*store, choice, arguments.format), to);
  }
  return 0;
}

}  // namespace rooflua::app
