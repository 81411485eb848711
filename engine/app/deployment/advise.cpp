// rooflua advise: the fewest changes of settings that meet an SLO (scripts/lib/rooflua/advise).
// rooflua check-run: whether a measured result is plausible (scripts/lib/rooflua/plausible).

#include "app/commands.h"
#include "app/deployment/asked.h"
#include "app/options.h"
#include "app/output.h"
#include "base/json_text.h"

namespace rooflua::app {

namespace {

constexpr double default_limit_s = 30;
constexpr double grace_s = 2;  // in which the search ends by itself, between two runs

}  // namespace

void add_advise(const Command& app) {
  const Command command =
      app.command("advise", "The fewest changes of settings that meet an SLO (exit 1: none does)");
  auto* a = new AdviseArguments;
  command.option("scenario", a->asked.scenario, "A scenario of kind serve; else --command");
  command.option("--slo", a->slo, "METRIC=LIMIT,...: ttft_p99=1s,output_tokens_per_s=5000",
                 {.required = true, .repeated = true, .split = true});
  add_asked(command, a->asked);
  add_from(command, a->asked.from);
  add_load(command, a->load);
  command.option("--gpus", a->gpus, "GPUs that there are (those of the deployment)",
                 {.check = whole(1, 100000)});
  command.option("--limit", a->limit_s, "Seconds after which the search ends (30)",
                 {.check = between(1, 1e6)});
  command.runs([a](const std::filesystem::path& home) {
    sort_files(a->asked.scenario, a->asked.from);
    return advise(*a, home);
  });
}

int advise(const AdviseArguments& arguments, const std::filesystem::path& home) {
  check_files({arguments.asked.json}, {arguments.asked.scenario});
  Json options = asked_of(arguments.asked);
  put_load(options, arguments.load);
  put(options, "gpus", arguments.gpus);
  put(options, "limit_s", arguments.limit_s);
  options["slo"] = texts_json(arguments.slo);
  const double limit_s = arguments.limit_s.value_or(default_limit_s) + grace_s;
  return answer("rooflua.advise.command", arguments.asked, options, limit_s, home);
}

void add_check_run(const Command& app) {
  const Command command = app.command(
      "check-run", "Is a measured result plausible? Against a scenario's interval (exit 1: not)");
  auto* a = new CheckRunArguments;
  command.option("result", a->result, "Result of a benchmark tool (docs/CALIBRATING.md)",
                 {.required = true});
  command.option("scenario", a->asked.scenario, "A scenario of kind serve; else --command");
  add_asked(command, a->asked);
  add_from(command, a->asked.from);
  command.runs([a](const std::filesystem::path& home) {
    sort_files(a->asked.scenario, a->asked.from);
    return check_run(*a, home);
  });
}

int check_run(const CheckRunArguments& arguments, const std::filesystem::path& home) {
  check_files({arguments.asked.json}, {arguments.result, arguments.asked.scenario});
  Json options = asked_of(arguments.asked);
  options["result"] = arguments.result;
  return answer("rooflua.plausible.command", arguments.asked, options, default_limit_s + grace_s,
                home);
}

}  // namespace rooflua::app
