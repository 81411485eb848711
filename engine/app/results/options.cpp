#include "app/results/options.h"

#include "app/options.h"
#include "app/results/results.h"

namespace rooflua::app {

void add_results(const Command& app) {
  const Command command = app.command(
      "results", "Files of results: merge, list, show, export what `run --results` keeps");
  command.needs_command();
  auto* a = new ResultsArguments;  // lives as long as the program: the options point into it
  const auto add = [&](const char* name, const char* text, int (*function)(const ResultsArguments&),
                       const char* file) {
    const Command sub = command.command(name, text);
    sub.option("file", a->file, file, {.required = true});
    sub.runs([a, function](const std::filesystem::path&) { return function(*a); });
    return sub;
  };
  const Command merge = add("merge", "Add the runs of other files to a file", results_merge,
                            "The file that gets them; made if it is not there");
  merge.option("others", a->others,
               "Files of results, folders of them, exported lines, or logs with such lines",
               {.required = true});
  merge.flag("--strict", a->strict, "Any difference between two results of one run is an error");
  const Command list =
      add("list", "The sweeps of a file, how many of their runs are there, and failures",
          results_list, "A file or folder of results");
  list.option("--missing", a->missing,
              "Print which of N shards lack runs, as `sbatch --array=` takes them",
              {.check = whole(1, 1000000)});
  list.option("--json", a->json, "Write the list to a file (- = stdout, alone)");
  const Command show =
      add("show", "The report of one run", results_show, "A file or folder of results");
  show.option("run", a->run, "Its name, a part of it, or the beginning of its hash",
              {.required = true});
  const Command written = add("export", "Write the runs for other tools", results_export,
                              "A file or folder of results");
  written.option(
      "--format", a->format,
      "csv: a row per run, a column per metric; json: a document like that of run; "
      "jsonl: lines to merge elsewhere; prometheus: text of metrics; llm-d: benchmark "
      "reports 0.2, a line per run",
      {.required = true, .check = one_of({"csv", "json", "jsonl", "prometheus", "llm-d"})});
  written.option("--select", a->select, "Metrics of csv: ttft_s_p99,tpot_s_p50 (all)",
                 {.split = true});
  written.option("-o,--output", a->to, "File (stdout)");
  const Command diff =
      command.command("diff", "Runs of two files with the same parameters, compared seed by seed");
  diff.option("a", a->file, "A file or folder of results: the baseline", {.required = true});
  diff.option("b", a->second, "Another", {.required = true});
  diff.option("--metric", a->select, "Metrics: ttft_s_p99,tpot_s_p50", {.split = true});
  diff.runs([a](const std::filesystem::path& home) { return results_diff(*a, home); });
  for (const Command& sub : {list, show, written, diff}) {
    sub.option("--set", a->set, "The beginning of a set's hash, as `list` prints it");
    sub.option("--build", a->build, "Only rows of this build of the program");
  }
}

}  // namespace rooflua::app
