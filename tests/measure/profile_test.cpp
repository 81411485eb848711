// Profiles: exports of Nsight Systems, and limits. Traces of torch: tests/scripts/profile.

#include "measure/profile/profile.h"

#include <sqlite3.h>

#include <fstream>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;

namespace {

namespace fs = std::filesystem;

struct Export {
  fs::path path = rooflua::test::scratch() / "profile_test.sqlite";
  Export() { fs::remove(path); }
  ~Export() { fs::remove(path); }
  void run(const std::string& sql) const {
    sqlite3* database = nullptr;
    sqlite3_open(path.c_str(), &database);
    char* problem = nullptr;
    sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &problem);
    const std::string said = problem == nullptr ? "" : problem;
    sqlite3_free(problem);
    sqlite3_close(database);
    CHECK(said == "");
  }
  std::string refused(ProfileLimits limits = {}) const {
    try {
      read_profile(path.string(), limits);
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find(path.string()) != std::string::npos);
      return error.what();
    }
    return "";
  }
};

const std::string tables =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'nvjet_a'), (2, 'cudaGraphLaunch_v10000'), (3, 'step');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, \"end\" INTEGER, deviceId INTEGER,"
    " streamId INTEGER, correlationId INTEGER, demangledName INTEGER, shortName INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, \"end\" INTEGER, globalTid INTEGER,"
    " correlationId INTEGER, nameId INTEGER);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER, \"end\" INTEGER, text TEXT, textId INTEGER, globalTid"
    " INTEGER);";

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an export of Nsight Systems has kernels, their launches and ranges") {
  const Export file;
  file.run(tables +
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 1500, 1, 7, 9, 1, 1), (2000, "
           "2100, 0, 7, 9, 1, 1);"
           "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900, 950, 5, 9, 2);"
           "INSERT INTO NVTX_EVENTS VALUES (800, 3000, NULL, 3, 5), (810, NULL, 'open', NULL, 5);");
  const Profile profile = read_profile(file.path.string());
  REQUIRE(profile.events.size() == 4);
  const auto& events = profile.events;
  CHECK(profile.format == "nsys");
  CHECK(profile.names.all()[static_cast<std::size_t>(events[0].name)] == "step");
  CHECK(events[1].kind == static_cast<int>(ProfileKind::launch));
  CHECK(events[2].start_ns == 200);
  CHECK(events[2].duration_ns == 500);
  CHECK(events[2].device == 1);
  CHECK(events[2].link == 1);
  CHECK(events[2].in_graph == 1);
}

TEST_CASE("what is no export is refused, and SQL of its author does not run") {
  const Export file;
  file.run("CREATE TABLE a (b)");
  CHECK(has(file.refused(), "CUPTI_ACTIVITY_KIND_KERNEL"));
  file.run("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start)");
  CHECK(has(file.refused(), "--cuda-graph-trace=node"));
  file.run("CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start");
  CHECK(has(file.refused(), "is a view"));
  fs::resize_file(file.path, 700);
  CHECK(has(file.refused(), "damaged or truncated"));
}

TEST_CASE("negative times of an export name table and row") {
  const Export file;
  file.run(tables +
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 6, 0, 7, 1, 1, 1), (9, 8, 0, 7, 1, "
           "1, 1);");
  CHECK(has(file.refused(), "CUPTI_ACTIVITY_KIND_KERNEL row 2: ends before it begins"));
}

TEST_CASE("limits of a profile hold") {
  const Export file;
  file.run(tables +
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 6, 0, 7, 1, 1, 1), (9, 9, 0, 8, 1, "
           "2, 2);");
  CHECK(has(file.refused({.most_events = 1}), "more than 1 events"));
  CHECK(has(file.refused({.most_lanes = 1}), "more than 1 threads"));
  CHECK(has(file.refused({.most_name_bytes = 3}), "a name of more than 3 bytes"));
  CHECK(has(file.refused({.most_text_bytes = 3}), "together"));
}
