#pragma once
// Checks documents against docs/schema.

#include <cstdlib>

#include "tests/app/program.h"

namespace rooflua::test {

/// 0: the documents fit the schema, 1: they do not, 77: nothing here can check it.
inline int fits(const std::string& schema, const std::string& documents) {
  const std::string source = source_dir().string();
  const std::string arguments = " '" + source + "/tests/app/schema.py' '" + source +
                                "/docs/schema/" + schema + ".json' " + documents + " 1>&2";
  int status = 77;
  for (const char* python : {"/usr/bin/python3", "python3"}) {
    status = std::system((python + arguments).c_str());
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    if (status <= 1) return status;
  }
  WARN("SKIPPED: no python3 here has the module jsonschema");
  return 77;
}

/// Whether they fit, or nothing here can check it.
inline bool may_fit(const std::string& schema, const std::string& documents) {
  const int status = fits(schema, documents);
  return status == 0 || status == 77;
}

}  // namespace rooflua::test
