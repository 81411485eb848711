// data verify finds what is known to be wrong with the public tables, and the two historical
// denominators.

#include "cost/quality/verify.h"

#include <algorithm>

#include "base/error.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

int total(const VerifyReport& report, FindingKind kind, const std::string& in_path = "") {
  int sum = 0;
  for (const Finding& f : report.findings) {
    if (f.kind == kind && f.path.string().find(in_path) != std::string::npos) sum += f.count;
  }
  return sum;
}

const Finding& the(const VerifyReport& report, FindingKind kind, std::string_view in_path = "") {
  const auto found =
      std::find_if(report.findings.begin(), report.findings.end(), [&](const Finding& f) {
        return f.kind == kind && f.path.string().find(in_path) != std::string::npos;
      });
  REQUIRE(found != report.findings.end());
  return *found;
}

VerifyReport shared(const std::string& tables) {
  return verify(test::shared_data() / "tables" / tables, test::source_dir());
}

}  // namespace

TEST_CASE("an FP8 kernel divided by the bf16 peak, and an H100 divided by an H20, are found out") {
  const VerifyReport report =
      verify(test::source_dir() / "tests/fixtures/mfu_denominators", test::source_dir());
  const Finding& gemm = the(report, FindingKind::denominator, "gemm");
  CHECK(gemm.text.find("989.") != std::string::npos);
  CHECK(gemm.text.find(": 2x too high") != std::string::npos);
  CHECK(total(report, FindingKind::above_peak, "gemm") == 2);
  const Finding& prefill = the(report, FindingKind::denominator, "prefill");
  CHECK(prefill.text.find("divided by 148") != std::string::npos);
  CHECK(prefill.text.find("6.68x") != std::string::npos);
  CHECK(total(report, FindingKind::above_peak, "prefill") == 4);
  CHECK(total(report, FindingKind::mfu_disagrees, "prefill") ==
        0);  // consistent, with the wrong peak
}

TEST_CASE(
    "a table without header, with a zero, a repeated key and a row that contradicts itself is "
    "found out") {
  const VerifyReport report =
      verify(test::source_dir() / "tests/fixtures/mfu_denominators", test::source_dir());
  CHECK(total(report, FindingKind::no_header, "decode") == 1);
  CHECK(total(report, FindingKind::mfu_zero, "decode") == 1);
  CHECK(total(report, FindingKind::duplicate_key, "decode") == 1);
  CHECK(the(report, FindingKind::mfu_disagrees, "decode").lines == std::vector<int>{4});
  CHECK(total(report, FindingKind::hole, "decode") == 1);
  CHECK(total(report, FindingKind::warm_up, "decode") == 1);
  CHECK(report.errors() >= 8);
  CHECK(report.text().find("errors") != std::string::npos);
}

TEST_CASE("the known defects of the InferSim tables are found, and no others") {
  if (!test::have_shared("tables/infersim")) return;
  const VerifyReport report = shared("infersim");
  CHECK(total(report, FindingKind::mfu_zero) == 3);
  CHECK(total(report, FindingKind::mfu_zero, "h800") == 3);
  CHECK(total(report, FindingKind::no_header) == 1);
  CHECK(total(report, FindingKind::no_header, "h20/64-2-128.csv") == 1);
  CHECK(total(report, FindingKind::mfu_disagrees) == 1);
  CHECK(the(report, FindingKind::mfu_disagrees, "h20/32-4-128.csv").text.find("1.8") !=
        std::string::npos);
  CHECK(total(report, FindingKind::duplicate_key) == 22);
  CHECK(total(report, FindingKind::duplicate_key, "gemm/h20") == 22);
  CHECK(total(report, FindingKind::denominator) == 0);
  CHECK(total(report, FindingKind::above_peak) == 0);
  CHECK(total(report, FindingKind::copy, "gdn") == 2);
  CHECK(total(report, FindingKind::loose_mfu, "grouped_gemm") > 100);
  CHECK(report.errors() == 6);
}

TEST_CASE("the known defects of the BLIS tables are found, and no others") {
  if (!test::have_shared("tables/blis_h100")) return;
  const VerifyReport report = shared("blis_h100");
  CHECK(total(report, FindingKind::mfu_zero) == 17);
  CHECK(total(report, FindingKind::warm_up) == 17);
  CHECK(total(report, FindingKind::mfu_disagrees) == 0);
  CHECK(total(report, FindingKind::denominator) == 0);
  const auto gemm =
      std::find_if(report.tables.begin(), report.tables.end(),
                   [](const TableReport& t) { return t.name == "gemm/h100/data.csv"; });
  REQUIRE(gemm != report.tables.end());
  CHECK(gemm->peak.median.in_base_units() == Approx(1979e12).epsilon(0.005));
}

TEST_CASE("a folder of folders is verified whole, and one without tables is refused") {
  CHECK_THROWS_WITH(verify(test::source_dir() / "engine", test::source_dir()),
                    ContainsSubstring("no tables"));
  CHECK_THROWS_AS(verify(test::source_dir() / "nowhere", test::source_dir()), Error);
}
