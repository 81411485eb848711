// Table files of every layout, as they are found in the wild.

#include "cost/tables/importers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "cost/lookup/lookup.h"
#include "cost/quality/verify.h"
#include "tests/catch.h"
#include "tests/scratch.h"
#include "tests/small_files.h"

using namespace rooflua;
namespace fs = std::filesystem;

namespace {

/// A folder of its own, gone at the end.
struct Folder {
  fs::path path;
  Folder() {
    path = rooflua::test::scratch() / "tables";
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
  }
};

std::shared_ptr<const MfuDatabase> open(const fs::path& path, Layout layout,
                                        const std::string& gpu) {
  DatabaseOptions options;
  options.path = path;
  options.layout = layout;
  options.gpu = gpu;
  return MfuDatabase::open(options);
}

double us(const Estimate& e) {
  return e.latency_s * 1e6;
}

}  // namespace

TEST_CASE("our own layout is read, spread and KV dtype included") {
  Folder folder;
  folder.write("gemm_bf16.csv",
               "m,k,n,latency_us,latency_us_p10,latency_us_p90\n16,4096,4096,10.5,10,12\n32,4096,"
               "4096,11,,\n");
  folder.write("attention_decode_bf16.csv",
               "heads,kv_heads,head_dim,kv_dtype,batch,context_tokens,latency_us,latency_us_p10,"
               "latency_us_p90\n"
               "32,8,128,bf16,1,1024,20,19,21\n32,8,128,fp8,1,1024,15,14,16\n");
  folder.write("all_reduce_bf16.csv",
               "ranks,bytes,mode,latency_us\n2,1024,graph,4\n2,1024,eager,20\n");
  folder.write("elementwise.csv", "op,tokens,width,dtype,latency_us\nnorm,64,4096,bf16,3\n");
  folder.write("launch.csv", "op,latency_us\nkernel,2.5\ngraph_node,0.9\n");
  folder.write("memory.csv", "op,bytes,latency_us\nread,1000000,1.5\n");
  const auto database = open(folder.path, Layout::rooflua, "");
  REQUIRE(database->tables().size() == 6);
  const KernelTable& gemm = *database->tables()[3];  // by name
  CHECK(gemm.name == "gemm_bf16");
  CHECK(gemm.rows[0].latency_s == Approx(10.5e-6));
  CHECK(gemm.rows[0].latency_s_p90 == Approx(12e-6));
  CHECK(gemm.rows[1].latency_s_p90 == 0);
  for (const KernelTable* table : database->tables()) {
    for (const KernelRow& row : table->rows) {
      CHECK(database->estimate(query_of(*table, row)).latency_s == row.latency_s);
      CHECK(database->estimate(query_of(*table, row)).evidence == Evidence::measured);
    }
  }
}

TEST_CASE("tables.toml says how a table was measured") {
  Folder folder;
  folder.write("gemm_bf16.csv", "m,k,n,latency_us\n16,4096,4096,10\n");
  folder.write("memory.csv", "op,bytes,latency_us\nread,1000000,1.5\n");
  folder.write("tables.toml", "[gemm_bf16]\nflop = \"2mkn\"\nlibrary = \"cuBLAS\"\nrepeats = 20\n");
  const auto files = list_tables(folder.path, Layout::rooflua, "");
  CHECK(read_table(files.at(0)).source == "flop 2mkn, library cuBLAS, repeats 20");
  const VerifyReport report = verify(folder.path, test::source_dir());
  CHECK(report.errors() == 0);
  REQUIRE(report.findings.size() == 2);
  CHECK(report.findings[0].kind == FindingKind::undocumented);
  CHECK(report.findings[0].text.find("does not say: kernel, timer") != std::string::npos);
  CHECK(report.findings[1].kind == FindingKind::undocumented);
  CHECK(report.findings[1].table == "memory");
  folder.write("tables.toml", "[gemm_bf16]\nflop = \"3mkn\"\n");
  CHECK_THROWS_WITH(list_tables(folder.path, Layout::rooflua, ""),
                    ContainsSubstring("tables.toml:2") && ContainsSubstring("2mkn"));
}

TEST_CASE("a grouped GEMM of our layout is asked for as up and down projection") {
  Folder folder;
  folder.write("grouped_gemm_bf16.csv",
               "experts,topk,tokens,k,n,distribution,latency_us\n8,2,64,1000,4000,uniform,30\n8,2,"
               "64,2000,1000,uniform,20\n");
  Query q;
  q.op = Op::grouped_gemm;
  q.experts = 8, q.experts_per_token = 2, q.hidden_size = 1000, q.intermediate_size = 2000,
  q.tokens = 64;
  const Estimate e = open(folder.path, Layout::rooflua, "")->estimate(q);
  CHECK(us(e) == Approx(50));
  CHECK(e.evidence == Evidence::measured);
}

TEST_CASE(
    "InferSim files are read with CRLF, without a header, and with two KV dtypes in one file") {
  Folder folder;
  folder.write("bench_data/gemm/h20/data.csv",
               "m,k,n,latency_us,mfu\r\n16,2048,6144,10.63,0.127969\r\n");
  folder.write("bench_data/mha/decode/h20/8-2-128.csv",
               "bf16,bf16,1,1024,25.5,0.009\nbf16,fp8,1,1024,20.5,0.011\n");
  const auto database = open(folder.path, Layout::infersim, "H20");
  const auto& tables = database->tables();
  REQUIRE(tables.size() == 2);
  CHECK(tables[0]->header);
  CHECK(tables[0]->mfu_decimals == 6);
  CHECK_FALSE(tables[1]->header);
  REQUIRE(tables[1]->rows.size() == 2);
  CHECK(tables[1]->rows[1].kv_dtype == Dtype::fp8);
  CHECK(tables[1]->rows[0].line == 1);
  CHECK(tables[1]->rows[0].shape[0] == 8);
}

TEST_CASE("the GPU folder is found in any case, and H20 is not H200") {
  Folder folder;
  folder.write("gemm/h20/data.csv", "m,k,n,latency_us,mfu\n16,2048,6144,10.63,0.127969\n");
  CHECK(list_tables(folder.path, Layout::infersim, "H20").size() == 1);
  CHECK(list_tables(folder.path, Layout::infersim, "h20-sxm").size() == 1);
  CHECK(list_tables(folder.path, Layout::infersim, "H200").empty());
  CHECK_THROWS_AS(list_tables(folder.path / "no", Layout::infersim, "H20"), Error);
}

TEST_CASE("BLIS decode files are those of one rank") {
  Folder folder;
  folder.write("mha/decode/h100/32-8-128-tp4.csv",
               "dtype,kv_dtype,batch_size,kv_len,latency_us,mfu\nbf16,bf16,1,1024,25,0.001\n");
  const auto database = open(folder.path, Layout::blis, "H100");
  Query q;
  q.op = Op::attention_decode;
  q.heads = 32, q.kv_heads = 8, q.head_dim = 128, q.tp = 4, q.batch = 1, q.context_tokens = 1024;
  CHECK(us(database->estimate(q)) == Approx(25));
  CHECK(database->estimate(q).evidence == Evidence::measured);
}

TEST_CASE("a bad cell names its file, line and column") {
  Folder folder;
  folder.write("gemm_bf16.csv", "m,k,n,latency_us\n16,4096,4096,10\n16,x,4096,10\n");
  const auto files = list_tables(folder.path, Layout::rooflua, "");
  CHECK_THROWS_WITH(read_table(files.at(0)),
                    ContainsSubstring("gemm_bf16.csv:3") && ContainsSubstring("'k'"));
  folder.write("gemm_bf16.csv", "m,k,latency_us\n16,4096,10\n");
  CHECK_THROWS_WITH(read_table(files.at(0)), ContainsSubstring("no column 'n'"));
  folder.write("gemm_bf16.csv", "m,k,n,latency_us\n16,4096\n");
  CHECK_THROWS_WITH(read_table(files.at(0)), ContainsSubstring("gemm_bf16.csv:2"));
  folder.write("gemm_bf16.csv", "");
  CHECK_THROWS_WITH(read_table(files.at(0)), ContainsSubstring("empty"));
}

TEST_CASE("tables written in our layout read back the same") {
  if (!test::have_shared("tables/blis_h100")) return;
  Folder folder;
  const auto blis = open(test::shared_data() / "tables/blis_h100", Layout::blis, "h100");
  write_tables(blis->tables(), folder.path, Layout::blis);
  const auto own = open(folder.path, Layout::rooflua, "");
  std::size_t rows = 0;
  for (const KernelTable* table : own->tables()) rows += table->rows.size();
  CHECK(rows == 112 + 30 + 755 - 82);  // shapes of several ranks' files
  for (const KernelTable* table : blis->tables()) {
    for (const KernelRow& row : table->rows) {
      Query q = query_of(*table, row);
      CHECK(own->estimate(q).latency_s == Approx(blis->estimate(q).latency_s).epsilon(1e-14));
    }
  }
}

TEST_CASE("tables.toml says what rows contain, and a mistake in it is named with its line") {
  Folder to;
  to.write("gemm_fp8_sglang.csv", "m,k,n,latency_us\n1,64,32,2\n");
  to.write("tables.toml", "[gemm_fp8_sglang]\nincludes = [\"quantize\"]\n");
  CHECK(open(to.path, Layout::rooflua, "")->includes(Op::gemm, Dtype::fp8, "quantize"));
  to.write("tables.toml", "[gemm_bf16_sglang]\nkernel = \"mine\"\n");
  CHECK(!open(to.path, Layout::rooflua, "")->includes(Op::gemm, Dtype::fp8, "quantize"));
  to.write("tables.toml", "[gemm_fp8_sglang]\nincludes = \"quantise\"\n");
  CHECK_THROWS_WITH(
      open(to.path, Layout::rooflua, ""),
      ContainsSubstring(
          "tables.toml:2: gemm_fp8_sglang: includes: unknown part 'quantise'; did you mean "
          "'quantize'"));
  to.write("tables.toml", "[gemm_fp8_sglang]\nanswers = \"no\"\n");
  CHECK_THROWS_WITH(
      open(to.path, Layout::rooflua, ""),
      ContainsSubstring(
          "tables.toml:2: gemm_fp8_sglang: answers: expected true or false, found \"no\""));
  to.write("tables.toml", "[gemm_fp8_sglang]\nstands_in = 0\n");
  CHECK_THROWS_WITH(
      open(to.path, Layout::rooflua, ""),
      ContainsSubstring("tables.toml:2: gemm_fp8_sglang: stands_in: expected \"all\""));
  to.write("tables.toml", "[gemm_fp8_sglang]\nanswers = false\n");
  CHECK_FALSE(open(to.path, Layout::rooflua, "")->holds_format(Op::gemm, Dtype::fp8));
}

TEST_CASE("a table that does not fit on the disk leaves the folder as it was") {
  Folder from;
  std::string rows = "m,k,n,latency_us\n";
  for (int m = 1; m <= 2000; ++m) rows += std::to_string(16 * m) + ",64,32,3\n";
  from.write("gemm/h100/data.csv", rows);
  from.write("own/gemm_fp8.csv", "old\n");
  const auto tables = open(from.path, Layout::infersim, "h100");
  const fs::path to = from.path / "own";
  {
    test::SmallFiles full(4096);
    CHECK_THROWS_WITH(write_tables(tables->tables(), to, Layout::infersim),
                      ContainsSubstring("gemm_fp8.csv: cannot be written: File too large"));
  }
  std::ifstream kept(to / "gemm_fp8.csv");
  std::string line;
  CHECK((std::getline(kept, line) && line == "old"));
  CHECK(std::distance(fs::directory_iterator(to), fs::directory_iterator()) == 1);
}

TEST_CASE("tables load when they are first asked for") {
  if (!test::have_shared("tables/aic")) return;
  const auto start = std::chrono::steady_clock::now();
  const auto ms = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  };
  const auto database = open(test::shared_data() / "tables/aic", Layout::aic, "h200");
  const double opened = ms();
  CHECK(database->tables_loaded() == 0);
  Query q;
  q.m = 8192, q.k = 4096, q.n = 6144;
  CHECK(us(database->estimate(q)) > 0);
  CHECK(database->tables_loaded() == 1);
  std::printf("aic: open %.2f ms, first GEMM lookup %.1f ms (a file of 107 thousand rows)\n",
              opened, ms() - opened);
}

TEST_CASE("BF16 GEMMs of the H100 run at 714 TFLOP/s and causal attention at 603") {
  if (!test::have_shared("tables/aic")) return;
  const auto database = open(test::shared_data() / "tables/aic", Layout::aic, "h100_sxm");
  Query q;
  q.m = 8192, q.n = 6144, q.k = 8192;
  const Estimate gemm = database->estimate(q);
  CHECK(flop_of(q) / gemm.latency_s == Approx(714e12).epsilon(0.01));
  q = Query();
  q.op = Op::attention_prefill;
  q.heads = 32, q.kv_heads = 8, q.head_dim = 128, q.batch = 1, q.new_tokens = 8192;
  CHECK(flop_of(q) / database->estimate(q).latency_s == Approx(603e12).epsilon(0.1));
}

TEST_CASE(
    "a number that nothing measures as is an error with its line, and a small one is written") {
  for (const std::string& wrong :
       std::vector<std::string>{"1e-320", "5e-324", "1e-308", "1e308", "-1e300"}) {
    INFO(wrong);
    for (const std::string& row : {wrong + ",34.7,1.6", "1024," + wrong + ",1.6"}) {
      Folder folder;
      folder.write("mha/prefill/h100/32-8-128.csv",
                   "dtype,seq_len,latency_us,mfu\nbf16," + row + "\nbf16,4096,252,3.6\n");
      const auto database = open(folder.path, Layout::infersim, "h100");
      std::string problem;
      try {
        (void)database->tables();
      } catch (const Error& error) {
        problem = error.what();
      }
      CHECK(problem.find("32-8-128.csv:2: column '") != std::string::npos);
      CHECK(problem.find("found '" + wrong + "'") != std::string::npos);
    }
  }
}

TEST_CASE("a negative shape in a table is an error with its line") {
  Folder folder;
  folder.write("mha/prefill/h100/32-8-128.csv",
               "dtype,seq_len,latency_us,mfu\nbf16,4096,252,3.6\nbf16,-1,34.7,1.6\n");
  const auto database = open(folder.path, Layout::infersim, "h100");
  std::string problem;
  try {
    (void)database->tables();
  } catch (const Error& error) {
    problem = error.what();
  }
  CHECK(problem.find("32-8-128.csv:3: column 'seq_len': is negative: '-1'") != std::string::npos);
}

TEST_CASE("cells of any form are the numbers that they spell") {
  Folder folder;
  std::vector<std::string> cells{"1",
                                 "12.",
                                 "0.1",
                                 "1e3",
                                 "2.5e-3",
                                 "00012",
                                 "1.0000",
                                 "123456789012345",
                                 "0.30000000000000004",
                                 "1234567.12345678",
                                 "99999999999.9999",
                                 "123456789012345678"};
  std::uint64_t seed = 1;
  for (int i = 0; i < 2000; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const std::string digits = std::to_string((seed >> 20) + 1);
    const std::size_t point = 1 + (seed >> 7) % digits.size();
    cells.push_back(digits.substr(0, point) + "." + digits.substr(point, (seed >> 3) % 12));
  }
  std::string text = "m,k,n,latency_us\n";
  for (std::size_t i = 0; i < cells.size(); ++i)
    text += std::to_string(i + 1) + ",64,64," + cells[i] + "\n";
  folder.write("gemm_bf16.csv", text);
  const auto files = list_tables(folder.path, Layout::rooflua, "");
  const KernelTable table = read_table(files.front());
  REQUIRE(table.rows.size() == cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    INFO(cells[i]);
    CHECK(table.rows[i].latency_s == std::strtod(cells[i].c_str(), nullptr) * 1e-6);
  }
}

TEST_CASE("a table is kept until its file or what is said of it changes") {
  Folder folder;
  const std::string head = "m,k,n,latency_us\n";
  folder.write("gemm_bf16.csv", head + "16,64,64,10\n");
  const auto kept = [&] {
    return kept_table(list_tables(folder.path, Layout::rooflua, "").front());
  };
  const auto first = kept();
  CHECK(kept() == first);
  folder.write("gemm_bf16.csv", head + "16,64,64,20\n");
  const auto second = kept();
  CHECK(first->rows.front().latency_s == 10 * 1e-6);
  CHECK(second->rows.front().latency_s == 20 * 1e-6);
  folder.write("tables.toml", "[gemm_bf16]\nanswers = false\n");
  CHECK(second->answers);
  CHECK(!kept()->answers);
  folder.write("gemm_bf16.csv", head + "16,64,64,x\n");
  CHECK_THROWS_WITH(kept(), ContainsSubstring("gemm_bf16.csv:2"));
}

TEST_CASE("a database that is opened again answers from changed files") {
  Folder folder;
  const auto answer = [&](double latency_us) {
    folder.write("gemm_bf16.csv",
                 "m,k,n,latency_us\n16,64,64," + std::to_string(latency_us) + "\n");
    Query query;
    query.op = Op::gemm;
    query.m = 16, query.k = query.n = 64;
    return us(open(folder.path, Layout::rooflua, "")->estimate(query));
  };
  CHECK(answer(10) == Approx(10));
  CHECK(answer(10) == Approx(10));
  CHECK(answer(30) == Approx(30));
  CHECK(answer(10) == Approx(10));
}
