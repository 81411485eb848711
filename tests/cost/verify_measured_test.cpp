// data verify on tables of ours, which record their spread and say how they were measured.

#include <algorithm>

#include "cost/quality/measured_row.h"
#include "cost/quality/verify.h"
#include "cost/tables/importers.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

VerifyReport fixture() {
  return verify(test::source_dir() / "tests/fixtures/measured", test::source_dir());
}

std::vector<int> lines(const VerifyReport& report, FindingKind kind, const std::string& table) {
  for (const Finding& finding : report.findings) {
    if (finding.kind == kind && finding.table == table) return finding.lines;
  }
  return {};
}

std::string text(const VerifyReport& report, FindingKind kind, const std::string& table) {
  for (const Finding& finding : report.findings) {
    if (finding.kind == kind && finding.table == table) return finding.text;
  }
  return "";
}

}  // namespace

TEST_CASE("a median outside p10 and p90, and a latency of 0, are errors of our own tables") {
  const VerifyReport report = fixture();
  CHECK(lines(report, FindingKind::quantiles, "gemm_bf16") == std::vector<int>{3, 4});
  CHECK(lines(report, FindingKind::not_positive, "gemm_bf16") == std::vector<int>{7});
  CHECK(is_error(FindingKind::quantiles));
  CHECK(is_error(FindingKind::not_positive));
}

TEST_CASE("rows faster than memory were timed in the cache, and a wide spread is said") {
  const VerifyReport report = fixture();
  CHECK(lines(report, FindingKind::above_bandwidth, "gemm_bf16") == std::vector<int>{5});
  CHECK(lines(report, FindingKind::above_bandwidth, "memory") == std::vector<int>{3});
  CHECK(lines(report, FindingKind::spread, "gemm_bf16") == std::vector<int>{6});
  CHECK_FALSE(is_error(FindingKind::above_bandwidth));
  CHECK_FALSE(is_error(FindingKind::spread));
}

TEST_CASE("a grouped GEMM counts tokens times experts per token, and beats no peak") {
  // 8192 * 2 rows of 4096 x 4096 are 550 GFLOP: 400 us would be 1374 TFLOP/s
  CHECK(lines(fixture(), FindingKind::above_peak, "grouped_gemm_bf16") == std::vector<int>{3});
}

TEST_CASE("what tables.toml does not say of a table is listed") {
  const VerifyReport report = fixture();
  CHECK(text(report, FindingKind::undocumented, "gemm_bf16").empty());
  CHECK(text(report, FindingKind::undocumented, "memory") ==
        "tables.toml does not say: library, warm_up, repeats, gpu, driver, clocks, date");
  CHECK(text(report, FindingKind::undocumented, "launch") ==
        "tables.toml does not say how it was measured");
}

TEST_CASE("a folder of ours is one, whatever its tables are called in other layouts") {
  const auto folder = test::source_dir() / "tests/fixtures/measured";
  CHECK(detect_layout(folder) == Layout::rooflua);
  CHECK(fixture().tables.size() == 4);
  if (!test::have_shared("tables/aic")) return;
  CHECK(detect_layout(test::shared_data() / "tables/aic") == Layout::aic);
}
