// A run that other programs drive step by step.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "base/json_text.h"
#include "library/rooflua.h"
#include "measure/write/result.h"
#include "script/scenario.h"
#include "script/vm/memory_account.h"
#include "tests/scratch.h"
#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A run that is closed in the end. Its calls succeed.
class Open {
 public:
  explicit Open(const char* path, const char* overrides = nullptr) {
    char error[2048] = "";
    run_ = rooflua_run_open(path, overrides, error, sizeof error);
    INFO(error);
    REQUIRE(run_ != nullptr);
  }
  explicit Open(rooflua_run* run) : run_(run) { REQUIRE(run_ != nullptr); }
  ~Open() { close(); }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

  operator rooflua_run*() const { return run_; }
  void close() const { rooflua_run_close(run_); }
  bool step(int steps = 1) const {
    char error[2048] = "";
    return went(rooflua_run_step(run_, steps, error, sizeof error), error);
  }
  bool until(double time_s) const {
    char error[2048] = "";
    return went(rooflua_run_until(run_, time_s, error, sizeof error), error);
  }
  double now_s() const {
    double now_s = -1;
    REQUIRE(rooflua_run_now(run_, &now_s, nullptr, 0) == ROOFLUA_OK);
    return now_s;
  }
  rooflua_run* fork() const { return rooflua_run_fork(run_, nullptr, 0); }
  std::string result() const { return whole(rooflua_run_result); }
  Json state() const { return parse_json(whole(rooflua_run_state), "state"); }

 private:
  static bool went(int code, const char* error) {
    INFO(error);
    REQUIRE(code >= 0);
    return code == 1;
  }
  std::string whole(int (*ask)(rooflua_run*, char*, std::size_t)) const {
    const int bytes = ask(run_, nullptr, 0);
    REQUIRE(bytes > 0);
    std::string text(static_cast<std::size_t>(bytes) + 1, '?');
    CHECK(ask(run_, text.data(), text.size()) == bytes);
    text.pop_back();
    return text;
  }

  rooflua_run* run_;
};

const std::string workload =
    R"({"name": "poisson", "rate_per_s": 20, "num_requests": 40, "prompt_tokens": 300,
        "output_tokens": 20})";
const std::string small =
    R"({"model": "llama-3.1-8b", "hardware": "h200-sxm", "engine": "vllm 0.19", "workload": )" +
    workload + "}";

/// The document of `rooflua run --json`.
std::string expected(const std::string& path, const std::vector<std::string>& set = {}) {
  script::Vm vm(sandbox_options());
  script::ScenarioOptions options;
  options.set = set;
  script::Scenario scenario(vm, std::filesystem::path(path), options);
  return dump_json(with_build(scenario.document({scenario.run(0, false)})));
}

/// A scenario's file of that name, whose keys are `more` besides a model and a load.
std::string written(const std::string& name, const std::string& more) {
  const auto path = scratch() / name;
  std::ofstream(path) << "return { rooflua = 1, model = \"llama-3.1-8b\", hardware = \"h200-sxm\", "
                         "workload = require \"workloads.poisson\" { rate_per_s = 20, "
                         "num_requests = 40, prompt_tokens = 300, output_tokens = 20 }, "
                      << more << " }\n";
  return path.string();
}

/// With a router that raises an error at request `at`, which leaves an instant in the middle.
std::string broken(int at) {
  const auto path = scratch() / "broken.lua";
  std::ofstream(path) << "local Breaks = require(\"rooflua.policy\").define { name = \"breaks\", "
                         "doc = \"Breaks.\", params = {} }\nfunction Breaks:route(request)\n"
                         "  if request.id == "
                      << at << " then error \"no more\" end\n  return 1\nend\n"
                      << file_text(written("unbroken.lua", "replicas = 2, router = Breaks {}"));
  return path.string();
}

std::string refused(const char* path, const char* overrides) {
  char error[2048] = "";
  rooflua_run* run = rooflua_run_open(path, overrides, error, sizeof error);
  CHECK(run == nullptr);
  rooflua_run_close(run);
  return error;
}

const Json& variant_of(const Json& document) {
  return document.find("variants")->items().front();
}

}  // namespace

TEST_CASE("a run that went step by step gives the bytes of `run --json`") {
  const std::string plain = written("plain.lua", "");
  const std::string fleet =
      written("fleet.lua",
              "replicas = 3, engine = \"vllm 0.19\", slo = { ttft_s = 0.5 }, metrics = { "
              "requests = true, utilisation = true }");
  for (const std::string& path : {plain, fleet}) {
    const std::string whole = expected(path);
    const Open stepped(path.c_str()), at_once(path.c_str()), timed(path.c_str());
    while (stepped.step(7)) {
      stepped.state();
      stepped.result();
      at_once.step();  // in between
    }
    CHECK(!at_once.until(infinity));
    for (double time_s = 0; timed.until(time_s);) time_s += 0.1;
    CHECK(stepped.result() == whole);
    CHECK(at_once.result() == whole);
    CHECK(timed.result() == whole);
    CHECK(!stepped.step());
    CHECK(!timed.until(0));
    CHECK(stepped.result() == whole);
  }
}

TEST_CASE("overrides of a run are those of --set, and of a scenario without a file") {
  const std::string path = written("set.lua", "");
  const Open overridden(path.c_str(), R"({"workload.rate_per_s": 5, "set": ["deployment.tp=2"]})");
  overridden.until(infinity);
  CHECK(overridden.result() == expected(path, {"deployment.tp=2", "workload.rate_per_s=5"}));
  const Open replaced(path.c_str(), ("{\"workload\": " + workload + "}").c_str()),
      alone(path.c_str()), without_file(nullptr, small.c_str());
  const auto summary = [](const Open& run) {
    run.until(infinity);
    return dump_json(*variant_of(parse_json(run.result(), "result")).find("summary"));
  };
  CHECK(summary(replaced) == summary(alone));
  CHECK(parse_json(small, "small").find("kind") == nullptr);
  CHECK(!summary(without_file).empty());
  const std::string named =
      small.substr(0, small.size() - 1) +
      R"(, "replicas": [{"scheduler": {"name": "vllm_v1", "max_num_seqs": 1}}],
           "corrections": [{"name": "step_overhead"}]})";
  const Open policies(nullptr, named.c_str());
  std::size_t running = 0, waiting = 0;
  for (double time_s = 0.1; policies.until(time_s); time_s += 0.1) {
    const Json replica = policies.state().find("replicas")->items().front();
    running = std::max(running, replica.find("running")->items().size());
    waiting = std::max(waiting, replica.find("waiting")->items().size());
  }
  CHECK(running == 1);
  CHECK(waiting > 3);
}

TEST_CASE("the state of a run adds up") {
  const Open run(nullptr, small.c_str());
  CHECK(run.now_s() == 0);
  CHECK(run.state().find("requests")->find("arrived")->integer() == 0);
  bool was_live = false;
  while (run.step(5)) {
    const Json state = run.state();
    const Json& requests = *state.find("requests");
    const Json& replica = state.find("replicas")->items().front();
    CHECK(state.find("now_s")->number() == run.now_s());
    CHECK(!state.find("over")->boolean());
    const std::int64_t live = requests.find("live")->integer();
    was_live = was_live || live > 0;
    CHECK(requests.find("arrived")->integer() == requests.find("ended")->integer() + live);
    CHECK(replica.find("free_blocks")->integer() <= replica.find("total_blocks")->integer());
    CHECK(static_cast<std::int64_t>(replica.find("waiting")->items().size() +
                                    replica.find("running")->items().size()) <= live);
    CHECK(text_of(replica, "name") == "replica 1");
  }
  CHECK(was_live);
  const Json state = run.state();
  CHECK(state.find("over")->boolean());
  CHECK(state.find("requests")->find("outcomes")->find("completed")->integer() == 40);
  run.until(state.find("now_s")->number() / 2);
  CHECK(run.now_s() == state.find("now_s")->number());
}

TEST_CASE("what is known on the way says that it is partial") {
  const Open run(nullptr, small.c_str());
  CHECK(variant_of(parse_json(run.result(), "result"))
            .find("summary")
            ->find("completed")
            ->integer() == 0);
  run.until(1);
  const Json document = parse_json(run.result(), "result");
  const Json* partial = variant_of(document).find("partial");
  REQUIRE(partial != nullptr);
  CHECK(text_of(*partial, "stopped_by") == "caller");
  CHECK(partial->find("clock_s")->number() == run.now_s());
  const Json counts = *run.state().find("requests");
  CHECK(partial->find("sent")->integer() == counts.find("arrived")->integer());
  CHECK(variant_of(document).find("summary")->find("completed")->integer() ==
        partial->find("finished")->integer());
  run.until(infinity);
  CHECK(parse_json(run.result(), "result").find("partial") == nullptr);
}

TEST_CASE("a fork has the same future, and its own; it outlives the original") {
  const std::string path = written("forked.lua", "");
  rooflua_run* kept = nullptr;
  {
    const Open run(path.c_str());
    run.until(0.7);
    const Open early(run.fork());
    kept = run.fork();
    CHECK(early.result() == run.result());
    early.until(infinity);
    CHECK(run.now_s() == 0.7);
    CHECK(early.result() == expected(path));
  }
  const Open fork(kept);
  CHECK(fork.now_s() == 0.7);
  const Open second(fork.fork());
  fork.close();
  second.until(infinity);
  CHECK(second.result() == expected(path));
  CHECK(rooflua_run_step(fork, 1, nullptr, 0) == ROOFLUA_CLOSED);
}

TEST_CASE("two threads run simulations of their own") {
  const std::string path = written("threads.lua", "replicas = 2");
  std::string found[2];
  const auto work = [&](std::string* out) {  // Catch is for one thread
    rooflua_run* run = rooflua_run_open(path.c_str(), nullptr, nullptr, 0);
    while (rooflua_run_step(run, 3, nullptr, 0) == 1) {
    }
    out->resize(static_cast<std::size_t>(std::max(0, rooflua_run_result(run, nullptr, 0))) + 1);
    rooflua_run_result(run, out->data(), out->size());
    out->pop_back();
    rooflua_run_close(run);
  };
  std::thread first(work, &found[0]), second(work, &found[1]);
  first.join();
  second.join();
  CHECK(found[0] == expected(path));
  CHECK(found[1] == found[0]);
}

TEST_CASE("every served scenario gives the same in pieces, and so does its fork", "[long]") {
  int compared = 0;
  for (const auto& each : std::filesystem::directory_iterator(source_dir() / "scenarios")) {
    if (each.path().extension() != ".lua") continue;
    const std::string path = each.path().string();
    rooflua_run* opened = rooflua_run_open(path.c_str(), R"({"vary": {}})", nullptr, 0);
    if (opened == nullptr) continue;  // of another kind, or what `vary` gives is missing
    INFO(path);
    const Open run(opened);
    run.step(500);
    run.result();
    const Open fork(run.fork());
    while (run.step(1000)) run.state();
    fork.until(infinity);
    const std::string whole = expected(path, {"vary={}"});
    CHECK(run.result() == whole);
    CHECK(fork.result() == whole);
    ++compared;
  }
  CHECK(compared >= 20);
}

TEST_CASE("an error of a policy ends a run, and a fork made before goes on") {
  const std::string path = broken(9);
  const Open run(path.c_str());
  run.step();
  const Open fork(run.fork());
  char error[512] = "";
  CHECK(rooflua_run_until(run, infinity, error, sizeof error) == ROOFLUA_ERROR);
  CHECK(has(error, "broken.lua:3: no more"));
  CHECK(rooflua_run_step(run, 1, error, sizeof error) == ROOFLUA_ERROR);
  CHECK(has(error, "go on with a fork made before"));
  CHECK(!run.state().find("over")->boolean());
  CHECK(text_of(*variant_of(parse_json(run.result(), "result")).find("partial"), "stopped_by") ==
        "error");
  CHECK(fork.step());
  CHECK(fork.now_s() < run.now_s());
}

TEST_CASE("what cannot be run is told") {
  CHECK(has(refused(nullptr, nullptr), "neither a scenario nor overrides"));
  CHECK(has(refused("/nowhere.lua", nullptr), "/nowhere.lua"));
  CHECK(has(refused(nullptr, "{"), "overrides:1"));
  CHECK(has(refused(nullptr, "[1]"), "expected an object"));
  CHECK(has(refused(nullptr, R"({"set": 3})"), "set"));
  CHECK(has(refused(nullptr, R"({"set": [3]})"), "set"));
  const auto priced = source_dir() / "scenarios" / "01_hello.lua";
  CHECK(has(refused(priced.c_str(), nullptr), "kind: expected \"serve\""));
  CHECK(has(refused(priced.c_str(), R"({"seed": "a"})"), "seed"));
  const auto varied = source_dir() / "scenarios" / "02_chunk_size.lua";
  CHECK(has(refused(varied.c_str(), nullptr), "gives 3 variants, and a run is of one"));
  const auto with = [](const std::string& load) {
    return R"({"model": "llama-3.1-8b", "hardware": "h200-sxm", "workload": )" + load + "}";
  };
  CHECK(has(refused(nullptr, with(R"({"name": "poison"})").c_str()), "did you mean 'poisson'"));
  CHECK(has(refused(nullptr, with(R"({"name": "poisson", "rate_per": 1})").c_str()),
            "workload: poisson: unknown parameter 'rate_per'"));
  CHECK(has(refused(nullptr, with(R"({"rate_per_s": 1})").c_str()), "workload: expected a policy"));
}

TEST_CASE("wrong calls of a run are answered") {
  char error[256] = "", json[256] = "";
  double now_s = 0;
  rooflua_run* closed = nullptr;
  {
    const Open run(nullptr, small.c_str());
    closed = run;
    run.step(3);
    const std::string before = run.result();
    CHECK(rooflua_run_step(run, 0, error, sizeof error) == ROOFLUA_MISUSE);
    CHECK(has(error, "steps: expected a whole number >= 1"));
    for (const double wrong : {-1.0, std::nan(""), -infinity}) {
      CHECK(rooflua_run_until(run, wrong, error, sizeof error) == ROOFLUA_MISUSE);
      CHECK(has(error, "time_s: expected a time >= 0"));
    }
    CHECK(rooflua_run_until(run, 1e300, error, sizeof error) == ROOFLUA_ERROR);
    CHECK(rooflua_run_now(run, nullptr, error, sizeof error) == ROOFLUA_MISUSE);
    CHECK(rooflua_run_state(run, nullptr, 10) == ROOFLUA_MISUSE);
    CHECK(rooflua_run_result(run, nullptr, 10) == ROOFLUA_MISUSE);
    CHECK(rooflua_run_result(run, json, sizeof json) == static_cast<int>(before.size()));
    CHECK(std::string(json) == before.substr(0, sizeof json - 1));
    // a handle of one kind is none of the other
    CHECK(rooflua_capacity(reinterpret_cast<rooflua_pricer*>(closed), nullptr) == ROOFLUA_CLOSED);
    rooflua_close(reinterpret_cast<rooflua_pricer*>(closed));
    CHECK(run.result() == before);
    std::thread([&] {
      CHECK(rooflua_run_step(run, 1, error, sizeof error) == ROOFLUA_CLOSED);
      rooflua_run_close(run);  // leaves it alone
      // the thread's end frees these
      rooflua_run* own = rooflua_run_open(nullptr, small.c_str(), nullptr, 0);
      rooflua_run* fork = rooflua_run_fork(own, nullptr, 0);
      CHECK(rooflua_run_step(fork, 2, nullptr, 0) == 1);
    }).join();
    CHECK(has(error, "run: is closed, or another thread opened it"));
    CHECK(run.result() == before);
  }
  for (rooflua_run* none : {closed, static_cast<rooflua_run*>(nullptr)}) {
    CHECK(rooflua_run_step(none, 1, error, sizeof error) == ROOFLUA_CLOSED);
    CHECK(rooflua_run_until(none, 1, error, sizeof error) == ROOFLUA_CLOSED);
    CHECK(rooflua_run_now(none, &now_s, error, sizeof error) == ROOFLUA_CLOSED);
    CHECK(rooflua_run_fork(none, error, sizeof error) == nullptr);
    CHECK(rooflua_run_state(none, json, sizeof json) == ROOFLUA_CLOSED);
    CHECK(has(json, "{\"error\":\"run: is "));
    CHECK(rooflua_run_result(none, json, sizeof json) == ROOFLUA_CLOSED);
    rooflua_run_close(none);
  }
}

TEST_CASE("runs and forks that are closed do not grow the process") {
  const auto once = [] {
    const Open run(nullptr, small.c_str());
    run.step(20);
    const Open fork(run.fork());
    fork.until(infinity);
  };
  for (int i = 0; i < 20; ++i) once();
  const auto before = static_cast<double>(script::native_bytes());
  for (int i = 0; i < 20; ++i) once();
  CHECK(static_cast<double>(script::native_bytes()) - before < 40e3);
  const Open run(nullptr, small.c_str());
  run.step(20);
  const auto fork_once = [&] { Open(run.fork()).step(); };
  for (int i = 0; i < 200; ++i) fork_once();
  const auto forked = static_cast<double>(script::native_bytes());
  for (int i = 0; i < 200; ++i) fork_once();
  CHECK(static_cast<double>(script::native_bytes()) - forked < 200e3);
}
