#pragma once
// What a workload in Lua says of a request, after its arrival and its lengths.

#include <cstdint>
#include <vector>

#include "script/vm/stack.h"
#include "serve/contract/request.h"

namespace rooflua::script {

/// The whole number at `index`, which is at least `least`. @param number  of the request, from 1
/// @throws Error naming `what`
std::int32_t whole_field(lua_State* L, int index, const char* what, std::int64_t number,
                         std::int32_t least);

/// Reads the table at `index`. @param segments  where the content of `spec` is kept
/// @throws Error for a field that nothing reads
void read_fields(lua_State* L, int index, std::int64_t number, RequestSpec& spec,
                 std::vector<Segment>& segments);

}  // namespace rooflua::script
