#include "measure/store/result_store.h"

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

ResultRow row(std::int64_t number, const std::string& build = "0.1.0") {
  ResultRow out;
  out.run_hash = "run" + std::to_string(number);
  out.build = build;
  out.seed = 7;
  out.scenario = "a.lua";
  out.parameters = "{\"x\":" + std::to_string(number) + "}";
  out.document = "{\"summary\":{\"ttft_s\":0.1}}";
  out.report = "a report\nof 'two' lines";
  out.host = "here";
  return out;
}

using Use = ResultStore::Use;

std::string problem_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the keys of a file are those of all builds, in order") {
  const File file;
  ResultStore store(file.path, Use::write);
  store.put(row(2));
  store.put(row(1, "0.2.0"));
  store.put(row(1));
  std::string keys;
  for (const RunKey& each : store.keys()) keys += each.run_hash + " " + each.build + "\n";
  CHECK(keys == "run1 0.1.0\nrun1 0.2.0\nrun2 0.1.0\n");
}

TEST_CASE("rows come back as they went in, after the file was closed") {
  const File file;
  {
    ResultStore store(file.path, Use::write);
    store.put(row(3));
    store.put(row(1));
  }
  const ResultStore store(file.path, Use::read);
  CHECK(store.count() == 2);
  bool altered = true;
  const auto found = store.find("run3", "0.1.0", altered);
  REQUIRE(found);
  CHECK_FALSE(altered);
  CHECK(found->seed == 7);
  CHECK(found->parameters == row(3).parameters);
  CHECK(found->document == row(3).document);
  CHECK(found->report == row(3).report);
  CHECK(found->host == "here");
  CHECK_FALSE(store.find("run2", "0.1.0", altered));
}

TEST_CASE("runs of two builds stand beside each other") {
  const File file;
  ResultStore store(file.path, Use::write);
  store.put(row(1));
  store.put(row(1, "0.2.0"));
  CHECK(store.count() == 2);
  CHECK(store.count("0.2.0") == 1);
  CHECK(store.builds() == std::vector<std::string>{"0.1.0", "0.2.0"});
}

TEST_CASE("what is written together is there together or not at all") {
  const File file;
  ResultStore store(file.path, Use::write);
  CHECK(problem_of([&] {
          store.together([&] {
            store.put(row(1));
            throw Error("", "no");
          });
        }) == "no");
  CHECK(store.count() == 0);
}

TEST_CASE("two programs may write the same file") {
  const File file;
  ResultStore one(file.path, Use::write), two(file.path, Use::write);
  for (std::int64_t i = 0; i < 20; ++i) (i % 2 == 0 ? one : two).put(row(i));
  CHECK(one.count() == 20);
}

TEST_CASE("files that are something else are refused and left alone") {
  const File file;
  std::ofstream(file.path)
      << "prompt_tokens,output_tokens\n1,2\n and enough more that it is no header";
  CHECK(problem_of([&] { ResultStore(file.path, Use::write); }).find("not a file of results") !=
        std::string::npos);
  CHECK(std::filesystem::file_size(file.path) > 60);
  CHECK(problem_of([&] {
          ResultStore("/nowhere/x.sqlite", Use::write);
        }).find("there is no folder /nowhere") != std::string::npos);
}
