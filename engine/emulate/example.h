#pragma once
// A value that fits a JSON schema: the arguments of a call without a model that writes them.

#include "base/json.h"

namespace rooflua::emulate {

/// The simplest value: const, the first of enum or examples, default; the required members of an
/// object, the fewest items of an array, the least number; the first of anyOf and oneOf, all of
/// allOf, the target of a local $ref. Patterns and formats but date, time, date-time, email, uri
/// and uuid are not looked at. An object for a schema that says nothing.
/// @throws Refused where the value, or the work for it, is beyond the limits (limits.h)
Json example_of(const Json& schema);

}  // namespace rooflua::emulate
