#include "app/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "app/commands.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/numbers/digits.h"
#include "base/user/text.h"
#include "spec/figures/deployment.h"

namespace rooflua::app {

Check between(double least, double most) {
  const auto bound = [](double value) { return significant(value, 6); };
  const std::string expected =
      std::isfinite(most) ? "from " + bound(least) + " to " + bound(most) : ">= " + bound(least);
  return {[=](const std::string& given) {
            const auto value = parse_number(given);
            if (value && *value >= least && *value <= most) return std::string();
            return "expected a number " + expected + ", found '" + given + "'";
          },
          "NUMBER"};
}

Check bounds_of(std::string_view option) {
  const FigureRow& row = row_named(figures<DeploymentOptions>(), option);
  return whole(static_cast<long>(row.least), static_cast<long>(row.most));
}

Check whole(long least, long most) {
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  return {[=](const std::string& given) {
            long value = 0;
            const char* end = given.data() + given.size();
            const auto read = std::from_chars(given.data(), end, value);
            if (read.ec == std::errc() && read.ptr == end && value >= least && value <= most)
              return std::string();
            return "expected a whole number from " + range + ", found '" + given + "'";
          },
          range};
}

Check request_word() {
  return {[](const std::string& given) {
            for (const char* word : {"slowest", "slowest_ttft", "slowest_tpot"})
              if (given == word) return std::string();
            if (given.starts_with("play:") && given.size() > 5) return std::string();
            const std::string problem = whole(0, 2147483647).fault(given);
            return problem.empty() ? problem
                                   : "expected the number of a request, slowest, slowest_ttft, "
                                     "slowest_tpot or play:N, found '" +
                                         given + "'";
          },
          "N"};
}

Check seeds() {
  return whole(0, 2147483647);
}

Check one_of(std::vector<std::string> names) {
  return {[=](const std::string& given) {
            if (std::find(names.begin(), names.end(), given) != names.end()) return std::string();
            return unknown_name("value", given, names);
          },
          "NAME"};
}

Check existing() {
  return {[](const std::string& given) {
            std::error_code ignored;
            if (std::filesystem::exists(given, ignored)) return std::string();
            return given + ": there is no such file" + files_like(given);
          },
          "PATH"};
}

void add_command(const Command& command, std::string& text, std::string* model) {
  command.option("--command", text, command_help, {.check = given()});
  if (model != nullptr) command.option("--model", *model, command_model_help);
}

void add_intervals(const Command& command, std::string& choice) {
  command.option("--intervals", choice,
                 "on (default) or off: whether the answer says how far its figures may be off",
                 {.check = one_of({"on", "off"})});
}

void set_load(std::optional<long> users, const std::string& bench, std::vector<std::string>& set) {
  if (users) set.push_back("users=" + std::to_string(*users));
  if (!bench.empty()) set.push_back("bench=" + bench);
}

void set_intervals(const std::string& choice, std::vector<std::string>& set) {
  if (!choice.empty()) set.push_back("intervals=" + choice);
}

void add_words(const Command& command, ModelWords& words) {
  command.option("--ignore", words.ignore,
                 "KEY,...: keys of the model's config.json that are left out of it",
                 {.repeated = true, .split = true});
  command.option(
      "--read-as", words.read_as,
      "KEY=KNOWN,...: keys of the model's config.json that are other words for known ones",
      {.repeated = true, .split = true});
}

Json model_given(const std::string& model, const ModelWords& words) {
  if (!words.any()) return model;
  if (model.empty())
    throw Misused(words.ignore.empty() ? "--read-as" : "--ignore", "belongs to --model");
  Json table = Json::object();
  table["from"] = model;
  if (!words.ignore.empty()) table["ignore"] = Json::array();
  for (const std::string& key : words.ignore) table["ignore"].push_back(key);
  if (!words.read_as.empty()) table["read_as"] = Json::object();
  for (const std::string& each : words.read_as) {
    const std::size_t equals = each.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == each.size())
      throw Misused("--read-as", "expected KEY=KNOWN, found '" + each + "'");
    table["read_as"][each.substr(0, equals)] = each.substr(equals + 1);
  }
  return table;
}

void check_launched(const std::string& without, const script::LaunchCommand& command,
                    std::initializer_list<std::pair<const char*, bool>> stated) {
  if (!command.is_given() && command.model.empty())
    throw Misused(without,
                  "--model is required, or --command \"vllm serve MODEL ...\", or --from LOG");
  const std::string source = command.text.empty() ? "--from" : "--command";
  for (const auto& [option, is_stated] : stated) {
    if (is_stated && command.is_given())
      throw Misused(option, "is said by " + source + "; leave it out");
  }
}

script::LaunchCommand launch_command(const std::string& text, const std::string& engine,
                                     const std::string& model,
                                     const std::vector<std::string>& from) {
  if (!text.empty() && !from.empty()) throw Misused("--from", "and --command: give one of them");
  if (!model.empty() && text.empty() && from.empty())
    throw Misused("--model",
                  "replaces the model of --command, and there is none; say --set model=");
  return {text, engine, model, from};
}

script::LaunchCommand deployed(const char* without, const std::string& text,
                               const std::string& engine, const std::string& model,
                               const std::string& hardware, const std::vector<std::string>& from) {
  if (hardware.empty() && from.empty())
    throw Misused(without, "--hardware is missing: A shipped GPU or hardware.toml");
  if (text.empty() && from.empty()) return {"", engine, model};
  return launch_command(text, engine, model, from);
}

void add_from(const Command& command, std::vector<std::string>& files) {
  command.option("--from", files, from_help);
}

void add_served(const Command& command, RunArguments& run) {
  command.option("--set", run.set, "key=value: any declared parameter (steps.prefill_divisor=2.0)",
                 {.repeated = true});
  command.option("--engine", run.engine, engine_help);
  add_command(command, run.command, &run.model);
  add_from(command, run.from);
  command.option("--hardware", run.hardware, "With --from and no scenario: the GPU");
}

void sort_files(std::string& scenario, std::vector<std::string>& files) {
  if (files.empty()) return;
  std::vector<std::string> all = std::exchange(files, {});
  if (!scenario.empty()) all.push_back(std::exchange(scenario, {}));
  for (std::string& each : all) {
    if (!each.ends_with(".lua")) {
      files.push_back(std::move(each));
    } else if (scenario.empty()) {
      scenario = std::move(each);
    } else {
      throw Misused("--from", scenario + " and " + each + " are scenarios; give one of them");
    }
  }
}

std::vector<std::string> with_engine(const std::string& engine,
                                     const std::vector<std::string>& set) {
  std::vector<std::string> all;
  if (!engine.empty()) all.push_back("engine=" + engine);
  all.insert(all.end(), set.begin(), set.end());
  return all;
}

Check given() {
  return {
      [](const std::string& text) {
        return std::string(text.empty() ? "is empty; is the variable unset that stands here?" : "");
      },
      ""};
}

}  // namespace rooflua::app
