#pragma once
// Published tables between the scripts that read them and the engine. Private to engine/script.

#include "base/json.h"
#include "cost/tables/importers.h"
#include "script/vm/stack.h"

namespace rooflua::script {

template <>
struct TypeName<KernelTable> {
  static constexpr const char* value = "rooflua.KernelTable";
  static constexpr const char* article = "a kernel table";
};

/// The items of a list from Lua, where an empty one is not known from an empty object.
const Json::Array& list_of(const Json& value);

/// A table as a script lists it: {name, path, op, dtype, engine, engines, includes}, and further
/// keys that only the script reads.
TableFile published_file(const Json& document);

}  // namespace rooflua::script
