#pragma once
// Changes rows of a results file after its back.

#include <sqlite3.h>

#include <filesystem>
#include <string>

#include "tests/catch.h"

namespace rooflua::test {

/// @param change  the rest of "UPDATE runs SET ..."
inline void change_rows(const std::filesystem::path& file, const std::string& change) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  REQUIRE(sqlite3_exec(database, ("UPDATE runs SET " + change).c_str(), nullptr, nullptr,
                       nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

}  // namespace rooflua::test
