// `rooflua results export`.

#include <cstdio>

#include "app/commands.h"
#include "app/output.h"
#include "app/results/results.h"
#include "base/error.h"
#include "measure/store/frame.h"
#include "measure/store/lines.h"
#include "measure/store/merge.h"
#include "measure/store/prometheus.h"

namespace rooflua::app {

namespace {

void refuse_for_lines(const ResultsArguments& arguments) {
  if (!arguments.set.empty() || !arguments.build.empty() || !arguments.select.empty()) {
    throw Misused("--format jsonl",
                  "writes everything that the file holds, to be merged elsewhere; --set, --build "
                  "and --select are for csv and json");
  }
}

std::string text_of(const ResultStore& store, const FrameChoice& choice,
                    const std::string& format) {
  if (format == "prometheus") return prometheus_of(store, choice);
  if (format == "json") return dump_json(document_of(store, choice), 2) + "\n";
  std::string out;
  each_chosen(store, choice,
              [&](const NamedRun& run) { out += dump_json(llm_d_report(run)) + "\n"; });
  return out;
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
