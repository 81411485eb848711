// `rooflua results show` and `merge`: one run, and the union of files.

#include <cstdio>

#include "app/commands.h"
#include "app/results/results.h"
#include "base/error.h"
#include "measure/store/frame.h"
#include "measure/store/merge.h"
#include "measure/store/shards.h"
#include "measure/write/table.h"

namespace rooflua::app {

namespace {

constexpr std::size_t most_listed = 12;

bool begins_hash(const std::string& text, const std::string& hash) {
  return text.size() >= 4 && hash.compare(0, text.size(), text) == 0;
}

void print_run(const NamedRun& run) {
  if (!run.name.empty()) std::printf("== %s\n", run.name.c_str());
  std::printf("run       %s\nbuild     %s\nscenario  %s, seed %lld\nhost      %s\n\n%s",
              run.row.run_hash.c_str(), run.row.build.c_str(), run.row.scenario.c_str(),
              static_cast<long long>(run.row.seed), run.row.host.c_str(), run.row.report.c_str());
}

}  // namespace

int results_show(const ResultsArguments& arguments) {
  const auto store = open_results(arguments.file);
  std::vector<NamedRun> exact, partly;
  std::vector<std::string> names;
  each_chosen(*store, {arguments.set, arguments.build}, [&](const NamedRun& run) {
    names.push_back(run.name);
    if (run.name == arguments.run || begins_hash(arguments.run, run.row.run_hash))
      exact.push_back(run);
    else if (run.name.find(arguments.run) != std::string::npos)
      partly.push_back(run);
  });
  const std::vector<NamedRun>& found = exact.empty() ? partly : exact;
  if (found.size() == 1) {
    print_run(found.front());
    return 0;
  }
  if (found.empty()) {
    std::string near;
    for (const std::string& each : suggestions(arguments.run, names))
      near += (near.empty() ? "; similar: '" : ", '") + each + "'";
    throw Error(arguments.file,
                "no run is called '" + arguments.run + "' or has a hash that begins so" + near);
  }
  std::string known;
  for (std::size_t i = 0; i < found.size() && i < most_listed; ++i)
    known += "\n  " + found[i].row.run_hash.substr(0, 12) + "  " + found[i].row.build + "  " +
             found[i].name;
  if (found.size() > most_listed) known += "\n  ...";
  throw Error(arguments.file, std::to_string(found.size()) + " runs are called like '" +
                                  arguments.run + "'; give one by its hash:" + known);
}

int results_merge(const ResultsArguments& arguments) {
  if (is_results_folder(arguments.file))
    throw Misused(arguments.file, "is a folder; name the file that gets the results first");
  const MergeOutcome done = merge(arguments.file, arguments.others, arguments.strict);
  std::string builds;
  for (const std::string& each : done.builds) builds += (builds.empty() ? "" : ", ") + each;
  std::printf("%s: %s runs, %s of them new, from %s files%s%s\n", arguments.file.c_str(),
              grouped(done.total).c_str(), grouped(done.added).c_str(), grouped(done.files).c_str(),
              builds.empty() ? "" : "; build ", builds.c_str());
  if (done.builds.size() > 1)
    std::printf("They are of %zu builds of the program, and stay apart.\n", done.builds.size());
  if (done.altered > 0)
    std::printf("%s rows were altered after they were written, and are left out.\n",
                grouped(done.altered).c_str());
  if (done.differing > 0)
    std::printf("%s runs were computed twice with results that differ by %.1e at most.\n",
                grouped(done.differing).c_str(), done.largest_difference);
  return 0;
}

}  // namespace rooflua::app
