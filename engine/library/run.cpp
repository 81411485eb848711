#include "library/run.h"

#include <cmath>
#include <utility>

#include "base/json_text.h"
#include "library/answers.h"
#include "library/opening.h"
#include "measure/write/result.h"

namespace rooflua::library {

/// A Lua state with its scenario.
struct Run::Opened {
  explicit Opened(const std::vector<Json>& stated)
      : vm(vm_options()),
        told(vm.call("rooflua.program.scenarios", "open_simulation", stated)),
        scenario(script::Scenario::told(vm, told)) {}

  script::Vm vm;
  Json told;
  script::Scenario scenario;
};

Run::Run(const std::vector<Json>& scenario) : opened_(std::make_shared<Opened>(scenario)) {
  number_ = *opened_->told.find("simulation");
}

Run::Run(std::shared_ptr<Opened> opened, Json number)
    : opened_(std::move(opened)), number_(std::move(number)) {}

Run::~Run() {
  if (opened_.use_count() == 1) return;  // the end of the state frees it
  try {
    ask("close");
  } catch (const std::exception&) {  // memory has run out; the end of the state frees it
  }
}

Json Run::ask(const char* function, const std::vector<Json>& more) {
  std::vector<Json> arguments{number_};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return opened_->vm.call("rooflua.program.simulations", function, arguments);
}

bool Run::step(int count) {
  if (count < 1)
    throw Misuse("steps", "expected a whole number >= 1, found " + std::to_string(count));
  result_.clear();
  return ask("step", {Json(count)}).boolean();
}

bool Run::run_until(double time_s) {
  if (!(time_s >= 0)) throw Misuse("time_s", "expected a time >= 0 in seconds, or infinity");
  result_.clear();
  return ask("advance", {std::isfinite(time_s) ? Json(time_s) : Json()}).boolean();
}

double Run::now_s() {
  return ask("now_s").number();
}

Json Run::state() {
  return ask("state");
}

std::unique_ptr<Run> Run::fork() {
  return std::unique_ptr<Run>(new Run(opened_, ask("fork")));
}

const std::string& Run::result() {
  if (result_.empty()) {
    const Json returned = ask("result");
    const script::Scenario& scenario = opened_->scenario;
    result_ =
        dump_json(with_build(scenario.document({scenario.result(0, returned, /*explain=*/false)})));
  }
  return result_;
}

}  // namespace rooflua::library
