#pragma once
// What is done before a scenario is opened: the home is found, scripts and readers are made known.

#include <filesystem>
#include <vector>

#include "base/json.h"
#include "script/vm/vm.h"

namespace rooflua::library {

/// Of a state in the process of another program.
script::VmOptions vm_options();

/// {scenario, overrides} for Lua: null where no file is given, an object in any case.
///
/// @param scenario   its file; null: the overrides are all of it
/// @param overrides  an object of JSON, or null
/// @throws Misuse if both are null, or the JSON is no object; Error if it is no JSON
std::vector<Json> stated(const char* scenario, const char* overrides);

}  // namespace rooflua::library
