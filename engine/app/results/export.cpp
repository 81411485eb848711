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

/// What a format reads of a stored document: most of it are lists and metrics that a report of
/// llm-d has no place for.
/// @param reads  {key: true, or of an object what is read of it}; null: everything
Json read_of(std::string_view object, const Json* reads) {
  Json::Object out;
  for (const JsonLines::Member& each : members_in(object, "document")) {
    const Json* wanted = reads == nullptr ? nullptr : reads->find(each.key);
    if (reads != nullptr && wanted == nullptr) continue;
    out.push_back({decoded(each.key), Json()});
    Json& value = out.back().value;
    if (each.is_text) {
      value = decoded(each.value);
    } else if (each.is_number()) {
      value = each.number();
    } else if (each.value.front() == '{') {
      value = read_of(each.value, wanted != nullptr && wanted->is_object() ? wanted : nullptr);
    } else {
      value = parse_json(each.value, "document");
    }
  }
  return Json(std::move(out));
}

/// A report of llm-d per run and line (scripts/lib/rooflua/writers/llm_d.lua).
std::string llm_d_of(const ResultStore& store, const FrameChoice& choice) {
  constexpr const char* module = "rooflua.writers.formats";
  script::Vm vm({.home = find_home({})});
  const Json reads = vm.call(module, "reads", {Json("llm-d")});
  std::string out;
  each_chosen(store, choice, [&](const NamedRun& run) {
    Json variant = read_of(run.row.document, &reads), facts = Json::object();
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
    out += vm.call_for_line(module, "document", arguments);
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
