#include "measure/html/plan.h"

#include <cstdio>
#include <filesystem>

#include "app/commands.h"
#include "app/options.h"
#include "app/output.h"
#include "app/quote.h"
#include "app/run_report.h"
#include "app/shard.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_text.h"
#include "script/vm/interrupt.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

namespace fs = std::filesystem;

void put(Json& to, const char* key, const std::string& value) {
  if (!value.empty()) to[key] = value;
}

void put(Json& to, const char* key, const std::vector<std::string>& values) {
  if (!values.empty()) to[key] = texts_json(values);
}

void put(Json& to, const char* key, const std::optional<double>& value) {
  if (value) to[key] = *value;
}

void put(Json& to, const char* key, const std::optional<long>& value) {
  if (value) to[key] = std::int64_t{*value};
}

/// The options as the Lua side reads them: those that were not given are absent.
Json options_of(const PlanArguments& a) {
  Json out = Json::object();
  put(out, "scenario", a.scenario);
  if (!a.model.empty() || a.words.any()) out["model"] = model_given(a.model, a.words);
  put(out, "command", a.command);
  put(out, "from", a.from);
  put(out, "workload", a.workload);
  put(out, "bench", a.bench);
  put(out, "objective", a.objective);
  put(out, "strategy", a.strategy);
  put(out, "buy", a.buy);
  put(out, "candidates", a.candidates);
  put(out, "power", a.power);
  put(out, "rate", a.rate);
  put(out, "clients", a.clients);
  put(out, "users", a.users);
  put(out, "peak", a.peak);
  put(out, "autoscaler", a.autoscaler);
  put(out, "confidence", a.confidence);
  put(out, "horizon_s", a.horizon_s);
  put(out, "strict", a.strict_percent);
  put(out, "slo", a.slo);
  put(out, "gpus", a.gpus);
  put(out, "engine", a.engine);
  put(out, "watts", a.watts);
  put(out, "set", a.set);
  for (const auto& [key, axis] : a.axes) {
    put(out, key.c_str(), axis.values);
    if (axis.flag) out[key] = true;
  }
  put(out, "survive", a.survive);
  put(out, "replicates", a.replicates);
  put(out, "requests", a.requests);
  put(out, "ranks", a.ranks);
  put(out, "seed", a.seed);
  put(out, "why", a.why);
  put(out, "verify", a.verify);
  out["all"] = a.all;
  out["front"] = a.front;
  out["emit"] = !a.emit.empty();
  out["page"] = !a.html.empty() || !a.write.empty();
  out["files"] = !a.write.empty();
  out["jobs"] = a.jobs;
  out["progress"] = !a.quiet;
  if (!a.results.empty()) {
    RunArguments run;
    run.results = a.results;
    const Keeping keeping = keeping_of(run, std::nullopt);
    out["results"] = keeping.file;
    put(out, "also", keeping.also);
  }
  return out;
}

/// Writes the files of a plan below a folder. Folders are made, other files in them are kept.
void write_files(const Json& files, const fs::path& folder) {
  fs::create_directories(folder);
  for (const Json& each : files.items()) {
    const fs::path path = folder / each.find("path")->text();
    std::error_code problem;
    fs::create_directories(path.parent_path(), problem);
    if (problem) throw Error(path.parent_path().string(), "cannot be made: " + problem.message());
    write_text(each.find("text")->text(), path.string());
    if (path.extension() == ".sh")
      fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add, problem);
  }
}

int answer(const Json& result, const PlanArguments& arguments) {
  if (!arguments.emit.empty()) {
    write_text(result.find("scenario")->text(), arguments.emit);
    return 0;
  }
  if (arguments.json != "-") std::fputs(result.find("text")->text().c_str(), stdout);
  if (!arguments.json.empty()) write_document(*result.find("document"), arguments.json);
  const Json* described = result.find("page");
  const std::string page =
      described != nullptr && described->is_object() ? html::plan_page(*described) : "";
  if (!arguments.html.empty()) write_text(page, arguments.html);
  if (!arguments.write.empty()) {
    write_files(*result.find("files"), arguments.write);
    write_text(page, (fs::path(arguments.write) / "plan.html").string());
    write_document(*result.find("document"), (fs::path(arguments.write) / "plan.json").string());
  }
  if (const Json* document = result.find("document"); document != nullptr) {
    if (const std::string problem = strict_of_plan(*document); !problem.empty())
      std::fprintf(stderr, "rooflua: --strict: %s\n", printable(problem).c_str());
  }
  const Json* reused = result.find("reused");
  if (!arguments.quiet && reused != nullptr && reused->is_number()) {
    std::fprintf(stderr, "rooflua: %lld pieces of work were in %s already\n",
                 static_cast<long long>(reused->integer()), arguments.results.c_str());
  }
  if (script::last_stop() == script::StopReason::interrupted) return script::interrupted_status();
  return static_cast<int>(result.find("status")->integer());
}

}  // namespace

int plan(const PlanArguments& given, const std::filesystem::path& home) {
  PlanArguments arguments = given;
  sort_files(arguments.scenario, arguments.from);
  check_files({arguments.json, arguments.html, arguments.emit},
              {arguments.scenario, arguments.model, arguments.verify});
  script::Vm vm({.home = home, .print_to_stderr = arguments.json == "-"});
  script::stop_on_terminate();
  return answer(vm.call("rooflua.plan.command", "run", {options_of(arguments)}), arguments);
}

}  // namespace rooflua::app
