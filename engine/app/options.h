#pragma once
// What commands with many options share: the chosen command, and checks of numbers.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command_line.h"
#include "base/json.h"
#include "script/scenario.h"

namespace rooflua::app {

/// A number between two bounds; nan is none.
Check between(double least, double most);
/// A whole number between two bounds.
Check whole(long least, long most);
/// The number of a request, or a word for one: "slowest"; or a play: "play:12".
Check request_word();
/// One of these names.
Check one_of(std::vector<std::string> names);
/// A file or folder that is there; for one that is not, names like it in its folder are suggested.
Check existing();
/// Within the bounds that an option of a deployment has.
Check bounds_of(std::string_view option);
/// Seeds are whole numbers below 2^31.
Check seeds();

/// A text that is not empty: `--shard "$I"` of a script with an unset I would mean all runs.
Check given();

/// Adds --command, and with `model` the option --model, which only --command reads.
void add_command(const Command& command, std::string& text, std::string* model);

/// Adds --from FILE...
void add_from(const Command& command, std::vector<std::string>& files);
/// Of the words after --from and the word for a scenario: what ends in .lua is the scenario, the
/// rest are files.
/// @throws Misused for two scenarios
void sort_files(std::string& scenario, std::vector<std::string>& files);

struct RunArguments;
/// Adds what says the engine of a server that stays: --set, --engine, --command, --model, --from,
/// --hardware.
void add_served(const Command& command, RunArguments& run);

/// Adds --intervals on|off.
void add_intervals(const Command& command, std::string& choice);
/// The key of the scenario that --intervals stands for, after what --set says.
void set_intervals(const std::string& choice, std::vector<std::string>& set);
/// The same of --users and --bench, which replace the workload.
void set_load(std::optional<long> users, const std::string& bench, std::vector<std::string>& set);

/// Adds --ignore and --read-as, which belong to --model.
void add_words(const Command& command, ModelWords& words);
/// The model of --model as a scenario has it. @throws Misused for words without --model
Json model_given(const std::string& model, const ModelWords& words);

/// Refuses options that say what a launch command says.
/// @param without  the command's name, for a line with neither --model nor --command nor --from
/// @param stated   options and whether each is given
void check_launched(const std::string& without, const script::LaunchCommand& command,
                    std::initializer_list<std::pair<const char*, bool>> stated);

/// The launch command of --command or the files of --from, with the release of --engine and the
/// model of --model.
/// @throws Misused for --model without either, and for both
script::LaunchCommand launch_command(const std::string& text, const std::string& engine,
                                     const std::string& model,
                                     const std::vector<std::string>& from = {});

/// The same of a command that takes a deployment by options of its own as well.
/// @param without  the command's name, where --hardware is missing
script::LaunchCommand deployed(const char* without, const std::string& text,
                               const std::string& engine, const std::string& model,
                               const std::string& hardware, const std::vector<std::string>& from);

/// What --set says, after the engine of --engine.
std::vector<std::string> with_engine(const std::string& engine,
                                     const std::vector<std::string>& set);

/// Adds `new` with its options.
void add_new(const Command& app);
/// The same of `plan`. The library declares the options of its axes.
/// @param home  where the library is; empty where the line does not ask for `plan`, which then has
///              no options of axes
/// @throws Error if the library cannot be read
void add_plan(const Command& app, const std::filesystem::path& home);
/// The same of `help`.
void add_help(const Command& app);
/// `emulate` in the same way.
void add_emulate(const Command& app);
/// `lab` in the same way.
void add_lab(const Command& app);
/// `capacity` in the same way.
void add_capacity(const Command& app);
/// `advise`, `check-run` and `upgrade` in the same way.
void add_advise(const Command& app);
void add_attach(const Command& app);
void add_check_run(const Command& app);
void add_upgrade(const Command& app);
void add_files(const Command& app);

}  // namespace rooflua::app
