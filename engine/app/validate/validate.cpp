#include <cstdio>
#include <filesystem>

#include "app/commands.h"
#include "app/output.h"
#include "app/scratch.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_text.h"
#include "base/workers.h"
#include "measure/html/sections.h"
#include "measure/write/progress.h"
#include "script/vm/interrupt.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

constexpr const char* module = "rooflua.validate.command";

Json options_of(const ValidateArguments& arguments, const Scratch& scratch) {
  Json options = Json::object();
  options["folder"] = arguments.folder;
  options["tables"] = arguments.tables;
  options["only"] = arguments.only;
  options["steps"] = texts_json(arguments.steps);
  options["set"] = texts_json(arguments.set);
  std::error_code ignored;
  options["folder_name"] =
      std::filesystem::canonical(arguments.folder, ignored).filename().string();
  options["wide"] = arguments.wide;
  options["page"] = !arguments.html.empty();
  if (!arguments.record.empty()) options["record"] = true;
  options["intervals"] = static_cast<std::int64_t>(arguments.intervals);
  options["scratch"] = scratch.path.string();
  return options;
}

/// Runs every case in one of `jobs` worker processes, and collects their results in this process.
/// @return how many cases ended; fewer than `count` after Ctrl-C
std::int64_t run_cases(script::Vm& vm, std::int64_t count, int jobs,
                       const std::filesystem::path& scratch) {
  ProgressBar bar("validate", count);
  WorkOptions options;
  options.jobs = jobs;
  options.stop = &script::stop_requested();
  options.patience_s = 0.5;
  options.in_process = script::continue_in_worker;
  std::int64_t ended = 0;
  const auto number = [](std::size_t piece) { return Json(static_cast<std::int64_t>(piece + 1)); };
  in_workers(
      static_cast<std::size_t>(count), options,
      [&](std::size_t piece) {
        const std::filesystem::path own = scratch / std::to_string(piece);
        std::filesystem::create_directory(own);
        return vm.call(module, "case", {number(piece), Json(own.string())});
      },
      [&](WorkDone&& done) {
        const Json taken =
            vm.call(module, "take", {number(done.piece), done.document, Json(done.problem)});
        bar.show(++ended, taken.find("id")->text());
      });
  return ended;
}

/// The results of all cases: the report, and the exit status. Most cases must have run.
int report(script::Vm& vm, const ValidateArguments& arguments, std::int64_t count) {
  const Json result = vm.call(module, "finish", {});
  if (arguments.json != "-") std::printf("%s\n", result.find("text")->text().c_str());
  if (!arguments.json.empty()) write_document(*result.find("document"), arguments.json);
  if (!arguments.record.empty()) write_text(result.find("record")->text(), arguments.record);
  const Json* page = result.find("page");
  if (!arguments.html.empty() && page != nullptr) write_text(html::described_page(*page), arguments.html);
  if (!arguments.html.empty() && page == nullptr)
    std::fprintf(stderr, "rooflua: --html: no page is written: no measured case could run\n");
  const std::int64_t ran = result.find("ran")->integer();
  if (2 * ran >= count && ran > 0) return 0;
  if (ran == 0) {
    std::fprintf(stderr, "rooflua: no case could run\n");
  } else {
    std::fprintf(stderr, "rooflua: %lld of %lld cases did not run\n",
                 static_cast<long long>(count - ran), static_cast<long long>(count));
  }
  return 1;
}

}  // namespace

int validate(const ValidateArguments& arguments, const std::filesystem::path& home) {
  check_files({arguments.json, arguments.html, arguments.record}, {});
  const Scratch scratch;
  script::Vm vm({.home = home, .trusted = true, .print_to_stderr = arguments.json == "-"});
  const Json opened = vm.call(module, "open", {options_of(arguments, scratch)});
  const std::int64_t count = opened.find("cases")->integer();
  const std::int64_t ended = run_cases(vm, count, arguments.jobs, scratch.path);
  if (script::stop_reason() != script::StopReason::none)
    throw Error("", "interrupted when " + std::to_string(ended) + " of " + std::to_string(count) +
                        " cases had ended");
  return report(vm, arguments, count);
}

}  // namespace rooflua::app
