#include "app/results/options.h"

#include "app/options.h"
#include "app/results/results.h"

namespace rooflua::app {

void add_results(CLI::App& app, std::function<int(const std::filesystem::path& home)>& door) {
  auto* command = app.add_subcommand(
      "results", "Files of results: merge, list, show, export what `run --results` keeps");
  command->require_subcommand(1);
  auto* a = new ResultsArguments;  // lives as long as the program: the options point into it
  const auto add = [&](const char* name, const char* text, int (*function)(const ResultsArguments&),
                       const char* file) {
    auto* sub = command->add_subcommand(name, text);
    sub->add_option("file", a->file, file)->required();
    sub->callback([a, function, &door] {
      door = [a, function](const std::filesystem::path&) { return function(*a); };
    });
    return sub;
  };
  auto* merge = add("merge", "Add the runs of other files to a file", results_merge,
                    "The file that gets them; made if it is not there");
  merge
      ->add_option("others", a->others,
                   "Files of results, folders of them, exported lines, or logs with such lines")
      ->required();
  merge->add_flag("--strict", a->strict,
                  "Any difference between two results of one run is an error");
  auto* list = add("list", "The sweeps of a file, how many of their runs are there, and failures",
                   results_list, "A file or folder of results");
  list->add_option("--missing", a->missing,
                   "Print which of N shards lack runs, as `sbatch --array=` takes them")
      ->check(whole(1, 1000000));
  list->add_option("--json", a->json, "Write the list to a file (- = stdout, alone)");
  auto* show = add("show", "The report of one run", results_show, "A file or folder of results");
  show->add_option("run", a->run, "Its name, a part of it, or the beginning of its hash")
      ->required();
  auto* written = add("export", "Write the runs for other tools", results_export,
                      "A file or folder of results");
  written
      ->add_option("--format", a->format,
                   "csv: a row per run, a column per metric; json: a document like that of run; "
                   "jsonl: lines to merge elsewhere; prometheus: text of metrics; llm-d: benchmark "
                   "reports 0.2, a line per run")
      ->required()
      ->check(one_of({"csv", "json", "jsonl", "prometheus", "llm-d"}));
  written->add_option("--select", a->select, "Metrics of csv: ttft_s_p99,tpot_s_p50 (all)")
      ->delimiter(',');
  written->add_option("-o,--output", a->to, "File (stdout)");
  auto* diff = command->add_subcommand(
      "diff", "Runs of two files with the same parameters, compared seed by seed");
  diff->add_option("a", a->file, "A file or folder of results: the baseline")->required();
  diff->add_option("b", a->second, "Another")->required();
  diff->add_option("--metric", a->select, "Metrics: ttft_s_p99,tpot_s_p50")->delimiter(',');
  diff->callback([a, &door] {
    door = [a](const std::filesystem::path& home) { return results_diff(*a, home); };
  });
  for (auto* sub : {list, show, written, diff}) {
    sub->add_option("--set", a->set, "The beginning of a set's hash, as `list` prints it");
    sub->add_option("--build", a->build, "Only rows of this build of the program");
  }
}

}  // namespace rooflua::app
