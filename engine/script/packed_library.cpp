#include "script/packed_library.h"

// The file that engine/script/vm/pack_library.cpp wrote becomes read-only data.
asm(".pushsection .rodata\n"
    ".balign 16\n"
    ".globl rooflua_packed_begin\n"
    ".hidden rooflua_packed_begin\n"
    ".globl rooflua_packed_end\n"
    ".hidden rooflua_packed_end\n"
    "rooflua_packed_begin:\n"
    ".incbin \"" ROOFLUA_PACKED
    "\"\n"
    "rooflua_packed_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" const char rooflua_packed_begin[], rooflua_packed_end[];

namespace rooflua::script {

std::string_view packed_library() {
  return {rooflua_packed_begin,
          static_cast<std::size_t>(rooflua_packed_end - rooflua_packed_begin)};
}

}  // namespace rooflua::script
