// Scripts read the published tables of these tests, as they do in the program.

#include "script/published_reader.h"

#include "tests/catch.h"

namespace {

const bool reads = [] {
  rooflua::script::read_published_tables(rooflua::test::source_dir());
  return true;
}();

}  // namespace
