#pragma once
// The structs and functions of engine/border.h as plain C, for ffi.cdef.

namespace rooflua::script {

/// The part between its marks without the macros, as it was when the program was built. Never null.
const char* border_text();

}  // namespace rooflua::script
