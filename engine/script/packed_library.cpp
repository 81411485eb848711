#include "script/packed_library.h"

// The files that engine/script/vm/pack_library.cpp wrote become read-only data.
#define ROOFLUA_PACK(name, file)      \
  asm(".pushsection .rodata\n"        \
      ".balign 16\n"                  \
      ".globl " #name                 \
      "_begin\n"                      \
      ".hidden " #name                \
      "_begin\n"                      \
      ".globl " #name                 \
      "_end\n"                        \
      ".hidden " #name "_end\n" #name \
      "_begin:\n"                     \
      ".incbin \"" file "\"\n" #name  \
      "_end:\n"                       \
      ".byte 0\n"                     \
      ".popsection\n");               \
  extern "C" const char name##_begin[], name##_end[];

ROOFLUA_PACK(rooflua_packed_library, ROOFLUA_PACKED_LIBRARY)
ROOFLUA_PACK(rooflua_packed_documents, ROOFLUA_PACKED_DOCUMENTS)

namespace rooflua::script {

namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view packed_library() {
  return between(rooflua_packed_library_begin, rooflua_packed_library_end);
}

std::string_view packed_documents() {
  return between(rooflua_packed_documents_begin, rooflua_packed_documents_end);
}

}  // namespace rooflua::script
