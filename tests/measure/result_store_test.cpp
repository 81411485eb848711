#include "measure/write/result_store.h"

#include <fstream>
#include <functional>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;

namespace {

/// A file of its own for each test, gone at its end.
struct File {
  std::filesystem::path path = rooflua::test::scratch() / "store";
  File() { std::filesystem::remove(path); }
  ~File() { std::filesystem::remove(path); }
};

ResultRow row(std::int64_t position) {
  ResultRow out;
  out.position = position;
  out.seed = 7;
  out.name = "x=" + std::to_string(position);
  out.parameters = "{\"x\":" + std::to_string(position) + "}";
  out.document = "{\"summary\":{\"ttft_s\":0.1}}";
  out.report = "a report\nof 'two' lines";
  return out;
}

const ResultSet ours{"00ff", "0.1.0", "a.lua"};

std::string problem_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("rows come back as they went in, after the file was closed") {
  const File file;
  {
    ResultStore store(file.path, ours);
    store.add(row(3));
    store.add(row(1));
  }
  const auto rows = ResultStore(file.path, ours).rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows.begin()->first == 1);
  const ResultRow& found = rows.at(3);
  CHECK(found.seed == 7);
  CHECK(found.name == "x=3");
  CHECK(found.parameters == row(3).parameters);
  CHECK(found.document == row(3).document);
  CHECK(found.report == row(3).report);
}

TEST_CASE("what another scenario or version computed is kept and not read") {
  const File file;
  ResultStore(file.path, ours).add(row(1));
  ResultStore(file.path, {"00ff", "0.2.0", "a.lua"}).add(row(1));
  ResultStore other(file.path, {"aaaa", "0.1.0", "a.lua"});
  CHECK(other.rows().empty());
  CHECK(other.foreign_rows() == 2);
  CHECK(ResultStore(file.path, ours).rows().size() == 1);
}

TEST_CASE("a row that is there stays as it is") {
  const File file;
  ResultStore store(file.path, ours);
  store.add(row(1));
  ResultRow changed = row(1);
  changed.document = "{}";
  store.add(changed);
  CHECK(store.rows().at(1).document == row(1).document);
}

TEST_CASE("two programs may write the same file") {
  const File file;
  ResultStore one(file.path, ours), two(file.path, ours);
  for (std::int64_t i = 0; i < 20; ++i) (i % 2 == 0 ? one : two).add(row(i));
  CHECK(one.rows().size() == 20);
}

TEST_CASE("files that are something else are refused and left alone") {
  const File file;
  std::ofstream(file.path)
      << "prompt_tokens,output_tokens\n1,2\n and enough more that it is no header";
  CHECK(problem_of([&] { ResultStore(file.path, ours).rows(); }).find("not a file of results") !=
        std::string::npos);
  CHECK(std::filesystem::file_size(file.path) > 60);
  CHECK(problem_of([&] {
          ResultStore("/nowhere/x.sqlite", ours).rows();
        }).find("cannot be opened") != std::string::npos);
}
