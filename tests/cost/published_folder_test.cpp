// Which published files of a folder are read: versions, packed files, broken ones.

#include "cost/tables/published_folder.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include "base/error.h"
#include "cost/quality/verify.h"
#include "cost/tables/importers.h"
#include "cost/tables/published_table.h"
#include "cost/tables/row_fates.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;
namespace fs = std::filesystem;

namespace {

constexpr const char* one_gemm = "gemm_dtype,m,n,k,latency\nbfloat16,1,32,64,0.002\n";

struct Folder {
  fs::path path;
  Folder() {
    path = rooflua::test::scratch() / "published_files";
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text = one_gemm) const {
    std::ofstream(path / name, std::ios::binary) << text;
  }
  std::string versions(const PublishedChoice& choice = {}) const {
    std::string text;
    for (const TableFile& file : published_folder(path, "h100_sxm", choice).tables) {
      if (file.dtype == Dtype::bf16) text += file.name + " " + file.version + "; ";
    }
    return text;
  }
};

}  // namespace

TEST_CASE("the name of a file says its GPU, table, engine and version") {
  const auto name =
      published_name("a/rtx_pro_6000_server_dsv4_csa_context_module_vllm0.24.0.csv.gz");
  REQUIRE(name);
  CHECK(name->gpu == "rtx_pro_6000_server");
  CHECK(name->table == "dsv4_csa_context_module");
  CHECK(name->engine == "vllm");
  CHECK(name->version == "0.24.0");
  CHECK(published_name("b300_sxm_wideep_moe_trtllm1.3.0rc10.csv")->table == "wideep_moe");
  CHECK(published_name("h100_sxm_nccl2.29.2.csv")->version == "2.29.2");
  CHECK(published_name("h100_sxm_nccl2.29.2.csv")->engine.empty());
  CHECK(published_name("b300_sxm_nccl_trtllm1.3.0rc10.csv")->engine == "trtllm");
  CHECK(!published_name("constants.csv"));
  CHECK(!published_name("h100_sxm_gemmini_vllm1.csv"));
}

TEST_CASE("of several versions of an engine one is read, and the others are named") {
  const Folder folder;
  folder.write("h100_sxm_gemm_vllm0.9.0.csv");
  folder.write("h100_sxm_gemm_vllm0.19.0.csv");
  folder.write("h100_sxm_gemm_sglang0.5.14.csv");
  folder.write("h200_sxm_gemm_vllm0.24.0.csv");
  CHECK(folder.versions() == "gemm_bf16_sglang 0.5.14; gemm_bf16_vllm 0.19.0; ");
  const auto left_out = published_folder(folder.path, "h100_sxm").left_out;
  REQUIRE(left_out.size() == 1);
  CHECK(left_out[0].path.filename() == "h100_sxm_gemm_vllm0.9.0.csv");
  CHECK(left_out[0].reason == "another version: vllm 0.19.0 is taken");
  CHECK(folder.versions({"0.9.0", false}) == "gemm_bf16_sglang 0.5.14; gemm_bf16_vllm 0.9.0; ");
  CHECK_THROWS_WITH(folder.versions({"0.8.0", false}),
                    Catch::Contains("--engine-version") && Catch::Contains("vllm 0.19.0"));
  CHECK_THROWS_WITH(published_folder(folder.path, ""), Catch::Contains("several GPUs"));
}

TEST_CASE("a packed table is read as a plain one, and a broken one is named") {
  const Folder folder;
  folder.write("h100_sxm_gemm_vllm0.24.0.csv");
  const std::string file = (folder.path / "h100_sxm_gemm_vllm0.24.0.csv").string();
  REQUIRE(std::system(("gzip -n '" + file + "'").c_str()) == 0);
  CHECK(detect_layout(folder.path) == Layout::aic);
  CHECK(gpus_in(folder.path, Layout::aic) == std::vector<std::string>{"h100_sxm"});
  const auto tables = list_tables(folder.path, Layout::aic, "h100");
  CHECK(read_table(tables.front()).rows.size() == 1);
  fs::resize_file(file + ".gz", fs::file_size(file + ".gz") - 5);
  CHECK_THROWS_WITH(
      read_table(tables.front()),
      Catch::Contains("h100_sxm_gemm_vllm0.24.0.csv.gz") && Catch::Contains("truncated"));
}

TEST_CASE("a Parquet file asks for its CSV form, an unknown file is named") {
  const Folder folder;
  folder.write("h100_sxm_gemm_vllm0.24.0.parquet", "PAR1");
  CHECK_THROWS_WITH(published_folder(folder.path, "h100_sxm"),
                    Catch::Contains(".parquet") && Catch::Contains("CSV"));
  folder.write("h100_sxm_gemm_vllm0.19.0.csv");
  folder.write("h100_sxm_something_vllm0.19.0.csv");
  const auto left_out = published_folder(folder.path, "h100_sxm").left_out;
  REQUIRE(left_out.size() == 2);
  CHECK(left_out[0].reason.find("Parquet") != std::string::npos);
  CHECK(left_out[1].reason.find("no published table is called like that") != std::string::npos);
}

TEST_CASE("a row with a missing cell and a file with a missing column name the place") {
  const Folder folder;
  folder.write("h100_sxm_gemm_vllm0.24.0.csv", "gemm_dtype,m,n,k,latency\nbfloat16,1,32,64\n");
  CHECK_THROWS_WITH(read_table(list_tables(folder.path, Layout::aic, "h100").front()),
                    Catch::Contains("0.24.0.csv:2") && Catch::Contains("4 cells"));
  folder.write("h100_sxm_gemm_vllm0.24.0.csv", "gemm_dtype,m,n,latency\nbfloat16,1,32,0.002\n");
  CHECK_THROWS_WITH(read_table(list_tables(folder.path, Layout::aic, "h100").front()),
                    Catch::Contains("0.24.0.csv:1") && Catch::Contains("no column 'k'"));
}

TEST_CASE("thinning leaves out what follows from the neighbours, and single spikes") {
  const Folder folder;
  std::string rows = "gemm_dtype,m,n,k,latency\n";
  for (int i = 0; i < 10; ++i) {  // the root of m: a straight line in logarithms
    const int m = 16 << i;
    const double spike = i == 4 ? 2 : 1;
    rows += "bfloat16," + std::to_string(m) + ",32,64," +
            std::to_string(0.001 * std::sqrt(m) * spike) + "\n";
  }
  folder.write("h100_sxm_gemm_vllm0.24.0.csv", rows);
  RowFates fates;
  const KernelTable table =
      read_published(published_folder(folder.path, "h100").tables.front(), &fates);
  REQUIRE(table.rows.size() == 10);
  const auto written = write_tables({&table}, folder.path / "own", Layout::aic, {0.02, &fates});
  CHECK(written.front().rows == 2);
  const auto left_out = fates.left_out();
  REQUIRE(left_out.size() == 2);
  CHECK(left_out[0].rows == 7);
  CHECK(left_out[1].rows == 1);
  CHECK(left_out[1].reason.find("stands alone") != std::string::npos);
}

TEST_CASE("shipped rows are rows of the publication") {
  if (!test::have_shared("tables/published_full")) return;
  const std::pair<const char*, const char*> gpus[] = {
      {"a100_sxm", "a100-sxm-80gb"}, {"h200_sxm", "h200-sxm"}, {"gb200", "gb200"}};
  constexpr std::uintmax_t quick = 70000;  // packed bytes of a file: larger ones take seconds
  std::size_t rows = 0, tables = 0;
  for (const auto& [published, ours] : gpus) {
    std::map<std::string, std::vector<const KernelTable*>> imported;
    std::vector<std::unique_ptr<const KernelTable>> read;
    for (const TableFile& file :
         published_folder(test::shared_data() / "tables/published_full", published).tables) {
      if (fs::file_size(file.path) > quick) continue;
      read.push_back(std::make_unique<const KernelTable>(read_table(file)));
      imported[file.name].push_back(read.back().get());
    }
    const fs::path shipped = test::source_dir() / "bench_data" / ours;
    for (const TableFile& file : list_tables(shipped, Layout::rooflua, ours)) {
      const auto found = imported.find(file.name);
      if (found == imported.end()) continue;
      INFO(ours << " " << file.name);
      const KernelTable own = read_table(file);
      std::map<std::string, double> latency_of;
      const auto key = [](const KernelTable& table, const KernelRow& row) {
        std::string text = std::to_string(static_cast<int>(row.kv_dtype));
        for_each_axis(declaration_of(table.op), [&](const Field& field, std::size_t place) {
          const double value = row.shape[place];
          const bool word = field.kind == FieldKind::word;
          text +=
              "," + (word ? table.labels[static_cast<std::size_t>(value)] : std::to_string(value));
        });
        return text;
      };
      for (const KernelTable* table : found->second) {
        for (const KernelRow& row : table->rows) {
          const auto [at, is_new] = latency_of.try_emplace(key(*table, row), row.latency_s);
          if (!is_new) at->second = std::min(at->second, row.latency_s);
        }
      }
      std::size_t missing = 0, different = 0;
      for (const KernelRow& row : own.rows) {
        const auto other = latency_of.find(key(own, row));
        if (other == latency_of.end()) {
          ++missing;
        } else if (std::abs(other->second / row.latency_s - 1) > 6e-4) {  // four digits
          ++different;
        }
      }
      CHECK(missing == 0);
      CHECK(different == 0);
      rows += own.rows.size();
      ++tables;
    }
  }
  CHECK(tables > 60);
  CHECK(rows > 50000);
}
