#pragma once
// The library as it was compiled when the program was built. Only programs link it, so that an
// edited script does not link every test again.

#include <string_view>

namespace rooflua::script {

/// For use_packed_library() (vm/compiled_chunks.h).
std::string_view packed_library();

}  // namespace rooflua::script
