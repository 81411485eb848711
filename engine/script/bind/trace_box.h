#pragma once
// A recorded workload that Lua holds until a simulation takes it.

#include <memory>
#include <string>
#include <vector>

#include "script/vm/stack.h"
#include "serve/contract/workload.h"
#include "serve/traces/read.h"

namespace rooflua::script {

struct TraceBox {
  std::shared_ptr<const Trace> trace;
  double time_scale = 1;
  std::int32_t max_output_tokens =
      0;  // the limit that every request declares; 0: none, -1: its own length
};
template <>
struct TypeName<TraceBox> {
  static constexpr const char* value = "rooflua.Trace";
  static constexpr const char* article = "a trace";
};

/// The engine's workload over this trace, from its first row.
std::unique_ptr<Workload> trace_workload(const TraceBox& box);

struct Run;
/// Gives the run the workload at `index` of the stack: a trace, or what `requests` returned.
/// @param classes  the names of its classes; those of a trace where they are empty
void read_workload(lua_State* L, int index, Run& run, std::vector<std::string>& classes);

/// Reading traces (bind/traces.cpp).
void bind_traces(lua_State* L);

}  // namespace rooflua::script
