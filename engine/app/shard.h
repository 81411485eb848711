#pragma once
// Which part of a scenario's runs this process does (`--shard`), and where it keeps them.

#include <functional>
#include <optional>
#include <string>

#include "app/commands.h"
#include "app/variants.h"
#include "measure/store/shards.h"

namespace rooflua::app {

/// The value of an environment variable; nullptr where it is not set. std::getenv, except in tests.
using Environment = std::function<const char*(const char*)>;

/// What --shard says. "3/16" is the shard 3, from 0, of 16. With "auto/16" the engine that started
/// this process says which: SLURM, Kubernetes, MPI, SGE, PBS, LSF or GNU parallel. How many there
/// are is never taken from the engine, because a part of an array that is submitted again has
/// another count.
/// @param told  gets a line about the variable that was taken
/// @throws Misused if it is written otherwise, or the engines say nothing or different things
Shard parse_shard(const std::string& text, const Environment& environment, std::string* told);

/// The part of the runs that --shard asks for; which one an engine said is printed on stderr.
std::optional<Shard> shard_of(const RunArguments& arguments);

/// The files of --results: one file, or in a folder one file per shard.
/// @throws Misused for a shard without a folder
Keeping keeping_of(const RunArguments& arguments, const std::optional<Shard>& shard);

}  // namespace rooflua::app
