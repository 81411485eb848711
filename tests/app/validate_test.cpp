// The command `rooflua validate`: its documents, its page, its exit status.

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "tests/app/program.h"
#include "tests/app/schema.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A folder with one closed loop and one case that cannot run.
fs::path folder() {
  const fs::path path = rooflua::test::scratch() / "validate";
  fs::create_directories(path);
  std::ofstream(path / "loop.csv") << "a,b\n1,2\n";
  std::ofstream(path / "cases.csv")
      << "case_id,rating,dataset,file,selector,model,gpu,tp,precision,engine,workload,metrics,"
         "measured,notes\n"
         "loop,C,own,loop.csv,row,llama-3.1-8b,H200,1,bf16,vLLM 0.15.1,closed loop c=4 in=200 "
         "out=50,x,e2e_ms=400;tpot_ms=8,\n"
         "gone,B,own,gone.csv,row,llama-3.1-8b,H200,1,bf16,vLLM 0.15.1,x,x,,\n";
  return path;
}

}  // namespace

TEST_CASE("validate writes errors as JSON and a page with plots, and counts what cannot run") {
  const fs::path path = folder();
  const Said said = rooflua::test::rooflua("validate " + path.string() +
                                           " --steps kernels --steps roofline_v1 --intervals 3 " +
                                           "--json - --html " + (path / "page.html").string());
  CHECK(said.status == 0);
  const Json document = parse_json(said.text, "validate");
  std::ofstream(path / "document.json") << said.text;
  CHECK(may_fit("validate", path / "document.json"));
  REQUIRE(document.find("cases")->items().size() == 2);
  const Json& loop = document.find("cases")->items()[0];
  CHECK(loop.find("errors")->find("e2e_mean")->is_number());
  CHECK(loop.find("evidence")->is_object());
  const Json& interval = *loop.find("intervals")->find("e2e_mean");
  CHECK(interval.find("low")->number() <= interval.find("high")->number());
  CHECK(contains(document.find("cases")->items()[1].find("problem")->text(), "no such file"));
  const Json& all = *document.find("totals")->find("all")->find("e2e_mean");
  CHECK(all.find("cases")->integer() == 1);
  CHECK(all.find("mean_abs_error")->number() == all.find("median_abs_error")->number());
  CHECK(document.find("others")->find("roofline_v1")->find("totals") != nullptr);
  const std::string page = read(path / "page.html");
  CHECK(contains(page, "<svg"));
  CHECK(contains(page, "2 measured cases, 1 simulated"));
  CHECK(contains(page, "Measured values and predicted intervals"));
  CHECK(contains(page, "class=\"line whisker"));
  fs::remove_all(path);
}

TEST_CASE("validate gives the same document from one process and from three") {
  const fs::path path = folder();
  const std::string at = "validate " + path.string() + " --intervals 2 --json - --jobs ";
  const Said one = rooflua::test::rooflua(at + "1 2>&1");
  const Said three = rooflua::test::rooflua(at + "3 2>&1");
  CHECK(one.status == 0);
  CHECK(contains(one.text, "\"intervals\""));
  CHECK(one.text == three.text);
  CHECK(rooflua::test::rooflua(at + "0 2>&1").status == 2);
  fs::remove_all(path);
}

TEST_CASE("validate fails with a reason: no folder, no case, no writable file") {
  Said said = rooflua::test::rooflua("validate /nowhere/at/all 2>&1");
  CHECK(said.status == 2);
  CHECK(contains(said.text, "cases: /nowhere/at/all: there is no such file"));
  const fs::path path = folder();
  const std::string at = "validate " + path.string() + " --steps \"kernels, shipped data\"";
  said = rooflua::test::rooflua(at + " --only gone 2>&1");
  CHECK(said.status == 1);
  CHECK(contains(said.text, "no case could run"));
  said = rooflua::test::rooflua(at + " --only nothing 2>&1");
  CHECK(said.status == 1);
  CHECK(contains(said.text, "no case of 2 has 'nothing' in its case_id"));
  said = rooflua::test::rooflua(at + " --html /nowhere/page.html 2>&1");
  CHECK(said.status == 1);
  CHECK(contains(said.text, "there is no folder"));
  fs::remove_all(path);
}

TEST_CASE("validate fails if most of its cases did not run") {
  const fs::path path = folder();
  const std::string at = "validate " + path.string() + " --steps kernels 2>&1";
  CHECK(rooflua::test::rooflua(at).status == 0);  // one of two
  std::ofstream(path / "cases.csv", std::ios::app)
      << "lost,B,own,lost.csv,row,llama-3.1-8b,H200,1,bf16,vLLM 0.15.1,x,x,,\n";
  const Said said = rooflua::test::rooflua(at);
  CHECK(said.status == 1);
  CHECK(contains(said.text, "rooflua: 2 of 3 cases did not run"));
  fs::remove_all(path);
}

TEST_CASE(
    "validate reads a file of measured closed loops, the same from one process and from three") {
  const fs::path path = folder() / "loops.csv";
  std::ofstream(path)
      << "question,family,system,engine,engine_version,format,mode,widths,workers,options,isl,osl,"
         "clients,ttft_ms,tpot_ms\n"
         "a,llama-3.1-8b,h100_sxm,vllm,0.15.1,bf16,agg,\"1,1,1\",1,max_num_seqs=4,200,20,2,20,8\n"
         "b,llama-3.1-8b,h100_sxm,sglang,,bf16,pd,\"P:1,1,1 D:1,1,1\",P:1 D:1,,200,20,2,20,8\n"
         "c,no-model,h100_sxm,sglang,,bf16,agg,\"1,1,1\",1,,200,20,2,20,8\n";
  const std::string at = "validate " + path.string() + " --json - --jobs ";
  const Said one = rooflua::test::rooflua(at + "1 2>&1");
  CHECK(one.status == 0);
  CHECK(one.text == rooflua::test::rooflua(at + "3 2>&1").text);
  const Json document = parse_json(one.text, "validate");
  const Json& silicon = *document.find("silicon");
  CHECK(silicon.find("all")->find("tpot")->find("questions")->integer() == 2);
  CHECK(silicon.find("all")->find("deployments")->integer() == 2);
  CHECK(silicon.find("engine")->find("sglang")->find("ttft")->find("mean")->is_number());
  const Json& refused = *silicon.find("coverage")->find("refused");
  CHECK(refused.find("model not known")->integer() == 1);
  CHECK(document.find("questions") == nullptr);
  const std::string written = folder() / "wide.json";
  const Said wide =
      rooflua::test::rooflua("validate " + path.string() + " --wide --json " + written + " 2>&1");
  CHECK(may_fit("validate", written));
  CHECK(contains(wide.text, "Deployments and questions"));
  CHECK(rooflua::test::rooflua(at + "1 --html page.html 2>&1").status == 1);
  std::ofstream(path, std::ios::app)
      << "d,no-model,h100_sxm,vllm,,bf16,agg,oops,,,200,20,2,20,8\n"
      << "e,no-model,h100_sxm,vllm,,bf16,agg,oops,,,200,20,2,20,8\n";
  rooflua::test::rooflua("validate " + path.string() + " --wide --json " + written + " 2>&1");
  CHECK(may_fit("validate", written));  // with rows that cannot be read
  const Said most = rooflua::test::rooflua(at + "1 2>&1 >/dev/null");
  CHECK(most.status == 1);
  CHECK(contains(most.text, "rooflua: 3 of 5 cases did not run"));
  const Said of_cases =
      rooflua::test::rooflua("validate " + (folder() / "cases.csv").string() + " --wide 2>&1");
  CHECK(of_cases.status == 1);
  CHECK(contains(of_cases.text, "--wide: rows are reported of a file"));
  fs::remove_all(path.parent_path());
}

/// A folder with cases, a set of closed loops, one of start-ups, and a CSV that is no set.
fs::path folder_of_sets() {
  const fs::path path = folder();
  fs::create_directories(path / "amd_loops");
  std::ofstream(path / "amd_loops" / "develop.csv")
      << "question,family,system,engine,engine_version,format,mode,widths_tp_dp_moetp_moeep,"
         "workers,isl,osl,clients,ttft_ms,tpot_ms,measurements,source\n"
         "asked,llama-3.1-8b,h100_sxm,vllm,0.15.1,bf16,agg,\"1,1,1,1\",,200,20,2,20,8,1,own\n";
  std::ofstream(path / "starts.csv")
      << "case,engine,release,model,hardware,memory_gib,tp,weights_format,kv_format,utilization,"
         "static_fraction,max_model_len,max_num_seqs,max_num_batched_tokens,chunk,eager,"
         "speculation,weights_gib,kv_gib,kv_tokens,max_concurrency,starts,scored,notes\n"
         "started,vllm,0.11.0,llama-3.1-8b,h100-sxm,,1,bf16,bf16,0.9,,16000,,,,no,none,,,421024,,"
         "yes,yes,\n";
  std::ofstream(path / "other.csv") << "x,y\n1,2\n";
  return path;
}

TEST_CASE("validate runs all sets of a folder, the same from one process and from three") {
  const fs::path path = folder_of_sets();
  const std::string at = "validate " + path.string() + " --steps kernels --jobs ";
  const Said one = rooflua::test::rooflua(at + "1 --wide --json - 2>&1");
  CHECK(one.status == 0);
  CHECK(one.text == rooflua::test::rooflua(at + "3 --wide --json - 2>&1").text);
  std::ofstream(path / "document.json") << one.text;
  CHECK(may_fit("validate", path / "document.json"));
  const Json document = parse_json(one.text, "validate");
  CHECK(document.find("sets")->items().size() == 3);
  CHECK(document.find("cases")->items().size() == 2);
  CHECK(document.find("totals")->find("all") != nullptr);
  CHECK(document.find("capacity")->find("all") != nullptr);
  CHECK(document.find("amd")->find("all")->find("tpot")->find("questions")->integer() == 1);
  CHECK(document.find("passed_over")->items().size() == 1);
  CHECK(document.find("notes")->items().size() == 2);  // --wide of cases, --steps of start-ups
  const Said text = rooflua::test::rooflua(at + "2 --html " + (path / "page.html").string());
  CHECK(contains(text.text, "3 sets, 4 cases, 3 ran, 1 did not"));
  CHECK(contains(text.text, "passed over: " + (path / "other.csv").string()));
  CHECK(contains(read(path / "page.html"), "<svg"));
  fs::remove_all(path);
}

TEST_CASE("documents of single sets fit their schema, in a folder too") {
  const fs::path path = folder_of_sets();
  for (const char* name : {"starts.csv", "amd_loops", "cases.csv", "amd_loops/develop.csv"}) {
    const std::string written = path / "document.json";
    const Said said = rooflua::test::rooflua("validate " + (path / name).string() + " --json " +
                                             written + " 2>&1");
    INFO(name << ": " << said.text);
    CHECK(said.status == 0);
    CHECK(may_fit("validate", written));
    const Json document = parse_json(read(written), "validate");
    CHECK((document.find("amd") != nullptr) == std::string(name).starts_with("amd_loops"));
  }
  // A folder has its name where the path does not end with it.
  const Said said =
      rooflua::test::rooflua("validate " + (path / "amd_loops/.").string() + " --json -");
  CHECK(parse_json(said.text, "validate").find("amd") != nullptr);
  fs::remove_all(path);
}

TEST_CASE("Ctrl-C ends validate at once, with the status of an interrupted program") {
  const fs::path path = folder();
  for (int i = 0; i < 60; ++i) {  // cases of minutes
    std::ofstream(path / "cases.csv", std::ios::app)
        << "long" << i << ",C,own,loop.csv,row,llama-3.1-8b,H200,1,bf16,vLLM 0.15.1,closed loop "
        << "c=64 in=200 out=2000,x,e2e_ms=400;tpot_ms=8,\n";
  }
  for (const char* jobs : {"1", "2"}) {
    const auto start = std::chrono::steady_clock::now();
    const std::string command = "cd '" + source_dir().string() +
                                "' && timeout --preserve-status -s INT 2 " ROOFLUA_PROGRAM
                                " validate " +
                                path.string() + " --intervals 1000 --jobs " + jobs + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 4096> buffer;
    std::string text;
    for (std::size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
      text.append(buffer.data(), n);
    const int status = pclose(pipe);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    INFO(text);
    CHECK(WEXITSTATUS(status) == 130);
    CHECK(contains(text, "interrupted"));
    CHECK(took.count() < 6);
  }
  fs::remove_all(path);
}
