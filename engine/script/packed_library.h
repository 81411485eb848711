#pragma once
// The library as it was compiled when the program was built, and its documents as they were read.
// Only programs link them, so that an edited script does not link every test again.

#include <string_view>

namespace rooflua::script {

/// For use_packed_library() (vm/compiled_chunks.h).
std::string_view packed_library();

/// For use_packed_documents() (base/packed/documents.h).
std::string_view packed_documents();

}  // namespace rooflua::script
