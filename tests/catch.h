#pragma once
// The one place that includes Catch2, version 2 or 3, and says where measured data may be. Tests use the names of
// version 3; Approx and the matchers of text need no namespace.

#ifdef ROOFLUA_CATCH_V3
#include <catch2/catch_all.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
#else
#include <catch2/catch.hpp>
inline auto ContainsSubstring(const std::string& part) {
  return Catch::Matchers::Contains(part);
}
#endif
using Catch::Matchers::StartsWith;

#include <cstdlib>
#include <filesystem>
#include <string>

namespace rooflua::test {

/// The source tree, for fixtures and shipped data.
inline std::filesystem::path source_dir() {
  return ROOFLUA_SOURCE_DIR;
}

/// Third-party tables, reference outputs and measured runs lie beside the checkout, or nowhere.
inline std::filesystem::path shared_data() {
  return source_dir() / ".." / "shared" / "data";
}

/// True when `path` below shared data is there. Where it is not the test says so and is counted
/// as skipped; with ROOFLUA_REQUIRE_SHARED=1 it fails.
inline bool have_shared(const std::string& path) {
  if (std::filesystem::exists(shared_data() / path)) return true;
  const char* required = std::getenv("ROOFLUA_REQUIRE_SHARED");
  if (required != nullptr && std::string(required) == "1") FAIL("missing: ../shared/data/" + path);
  std::fprintf(stderr, "SKIPPED: ../shared/data/%s is not there\n", path.c_str());
  return false;
}

}  // namespace rooflua::test
