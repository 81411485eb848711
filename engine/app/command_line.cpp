#include "app/command_line.h"

#include <CLI/CLI.hpp>
#include <iostream>

namespace rooflua::app {

namespace {

Misread::Kind kind_of(const CLI::ParseError& problem) {
  switch (static_cast<CLI::ExitCodes>(problem.get_exit_code())) {
    case CLI::ExitCodes::Success:
      return Misread::Kind::answered;
    case CLI::ExitCodes::RequiredError:
      return Misread::Kind::missing;
    case CLI::ExitCodes::ArgumentMismatch:
      return Misread::Kind::count;
    case CLI::ExitCodes::ConversionError:
      return Misread::Kind::value;
    default:
      return Misread::Kind::other;
  }
}

void add_rules(CLI::App& app, CLI::Option& option, const Rules& rules) {
  if (rules.alone != nullptr) option.expected(0, 1)->default_str(rules.alone);
  if (rules.required) option.required();
  if (rules.check.fault) option.check(CLI::Validator(rules.check.fault, rules.check.name));
  if (rules.split) option.delimiter(',');
  if (rules.repeated) option.allow_extra_args(false);
  if (rules.needs != nullptr) option.needs(app.get_option(rules.needs));
  if (rules.excludes != nullptr) option.excludes(app.get_option(rules.excludes));
}

std::vector<std::string> behind(const char* dashes, std::vector<std::string> names) {
  for (std::string& each : names) each.insert(0, dashes);
  return names;
}

std::vector<Command> commands_of(const std::vector<CLI::App*>& apps, Door* door) {
  std::vector<Command> out;
  for (CLI::App* each : apps) out.emplace_back(each, door);
  return out;
}

}  // namespace

Command::Command(CLI::App* app, Door* door)
    : name(app->get_name()), doc(app->get_description()), app_(app), door_(door) {}

Command Command::command(const char* called, const char* about) const {
  return {app_->add_subcommand(called, about), door_};
}

template <typename T>
void Command::option(const char* names, T& value, const char* about, const Rules& rules) const {
  add_rules(*app_, *app_->add_option(names, value, about), rules);
}
template void Command::option(const char*, std::string&, const char*, const Rules&) const;
template void Command::option(const char*, std::vector<std::string>&, const char*,
                              const Rules&) const;
template void Command::option(const char*, int&, const char*, const Rules&) const;
template void Command::option(const char*, double&, const char*, const Rules&) const;
template void Command::option(const char*, std::optional<int>&, const char*, const Rules&) const;
template void Command::option(const char*, std::optional<long>&, const char*, const Rules&) const;
template void Command::option(const char*, std::optional<double>&, const char*, const Rules&) const;

void Command::flag(const char* names, bool& value, const char* about, const Rules& rules) const {
  add_rules(*app_, *app_->add_flag(names, value, about), rules);
}

void Command::answer(const char* names, std::function<std::string()> text,
                     const char* about) const {
  app_->add_flag_callback(
      names, [text] { throw CLI::CallForVersion(text(), 0); }, about);
}

void Command::needs_command() const {
  app_->require_subcommand(1);
}

void Command::takes_all_words() const {
  app_->prefix_command();
}

void Command::runs(Door function) const {
  app_->callback([door = door_, function] { *door = function; });
}

std::vector<Command> Command::commands() const {
  return commands_of(app_->get_subcommands([](CLI::App*) { return true; }), door_);
}

std::vector<Command> Command::chosen() const {
  return commands_of(app_->get_subcommands(), door_);
}

std::optional<Command> Command::inner(const std::string& called) const {
  for (const Command& each : commands())
    if (each.name == called) return each;
  return std::nullopt;
}

std::vector<Option> Command::options() const {
  std::vector<Option> out;
  for (const CLI::Option* each : app_->get_options()) {
    out.push_back({each->get_name(), behind("-", each->get_snames()),
                   behind("--", each->get_lnames()), each->get_description(), each->get_type_name(),
                   each->get_positional(), each->get_required(), each->get_items_expected_min(),
                   each->get_items_expected_max(), each->count()});
  }
  return out;
}

std::vector<std::string> Command::words_left() const {
  return app_->remaining();
}

std::string Command::help(const std::string& called) const {
  return app_->get_formatter()->make_help(app_, called, CLI::AppFormatMode::Normal);
}

CommandLine::CommandLine(const char* name, const char* doc)
    : app_(std::make_unique<CLI::App>(doc, name)), door_(std::make_unique<Door>()) {}

CommandLine::~CommandLine() = default;

Door CommandLine::parse(int argc, char** argv) const {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    const Misread::Kind kind = kind_of(problem);
    if (kind == Misread::Kind::answered) app_->exit(problem, std::cout, std::cerr);
    throw Misread{kind, problem.what()};
  }
  return *door_;
}

}  // namespace rooflua::app
