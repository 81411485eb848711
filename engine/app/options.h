#pragma once
// What commands with many options share: the chosen command, and checks of numbers.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "script/scenario.h"

namespace rooflua::app {

/// The chosen command as a function, called after the whole line has been parsed.
using Door = std::function<int(const std::filesystem::path& home)>;

/// A number between two bounds. (CLI::Range accepts nan.)
CLI::Validator between(double least, double most);
/// A whole number between two bounds.
CLI::Validator whole(long least, long most);
/// The number of a request, or a word for one: "slowest"; or a play: "play:12".
CLI::Validator request_word();
/// One of these names.
CLI::Validator one_of(std::vector<std::string> names);
/// A file or folder that is there; for one that is not, names like it in its folder are suggested.
CLI::Validator existing();
/// Within the bounds that an option of a deployment has.
CLI::Validator bounds_of(std::string_view option);
/// Seeds are whole numbers below 2^31.
CLI::Validator seeds();

/// A text that is not empty: `--shard "$I"` of a script with an unset I would mean all runs.
CLI::Validator given();

/// Adds --command, and with `model` the option --model, which only --command reads.
void add_command(CLI::App* command, std::string& text, std::string* model);

/// Adds --intervals on|off.
void add_intervals(CLI::App* command, std::string& choice);
/// The key of the scenario that --intervals stands for, after what --set says.
void set_intervals(const std::string& choice, std::vector<std::string>& set);

/// Adds --ignore, which belongs to --model.
void add_ignore(CLI::App* command, std::vector<std::string>& keys);
/// The model of --model as a scenario has it. @throws Misused for --ignore without --model
Json model_given(const std::string& model, const std::vector<std::string>& ignored);

/// Refuses options that say what a launch command says.
/// @param without  the command's name, for a line with neither --model nor --command
/// @param stated   options and whether each is given
void check_launched(const std::string& without, const std::string& command,
                    const std::string& model,
                    std::initializer_list<std::pair<const char*, bool>> stated);

/// The launch command of --command, with the release of --engine and the model of --model.
/// @throws Misused for --model without --command
script::LaunchCommand launch_command(const std::string& text, const std::string& engine,
                                     const std::string& model);

/// What --set says, after the engine of --engine.
std::vector<std::string> with_engine(const std::string& engine,
                                     const std::vector<std::string>& set);

/// Adds `new` with its options; the chosen command goes into `door`.
void add_new(CLI::App& app, Door& door);
/// The same of `plan`.
void add_plan(CLI::App& app, Door& door);
/// The same of `help`.
void add_help(CLI::App& app, Door& door);
/// `emulate` in the same way.
void add_emulate(CLI::App& app, Door& door);
/// `capacity` in the same way.
void add_capacity(CLI::App& app, Door& door);

}  // namespace rooflua::app
