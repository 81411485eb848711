#pragma once
// A question about a scenario or a launch command (AskedScenario), as the Lua side reads it, and
// its answer.

#include <optional>

#include "app/commands.h"
#include "app/options.h"

namespace rooflua::app {

/// Puts what is stated.
template <class Value>
void put(Json& to, const char* key, const std::optional<Value>& value) {
  if (value) to[key] = *value;
}

inline void put(Json& to, const char* key, const std::optional<long>& value) {
  if (value) to[key] = std::int64_t{*value};
}

inline void put(Json& to, const char* key, const std::string& value) {
  if (!value.empty()) to[key] = value;
}

/// The scenario or the launch command of a question, as the Lua side reads them.
Json asked_of(const AskedScenario& asked);

/// Calls `run` of the module of a command and prints what it answers; the exit status.
/// @param limit_s  CPU seconds after which a run that still goes on is stopped
int answer(const char* module, const AskedScenario& asked, const Json& options, double limit_s,
           const std::filesystem::path& home);

void add_asked(const Command& command, AskedScenario& asked);

void add_load(const Command& command, AskedLoad& load);
void put_load(Json& options, const AskedLoad& load);

}  // namespace rooflua::app
