#pragma once
// The text of engine/border.h, for ffi.cdef.

namespace rooflua::script {

/// The whole file, as it was when the program was built. Never null.
const char* border_text();

}  // namespace rooflua::script
