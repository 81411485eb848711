// Two databases held against each other.

#include "cost/quality/compare.h"

#include "tests/catch.h"

using namespace rooflua;

namespace {

KernelTable gemm(double slower) {
  KernelTable table;
  table.name = "gemm_bf16";
  table.op = Op::gemm;
  table.axes = axis_names(Op::gemm);
  table.convention = FlopConvention::gemm_2mkn;
  for (int i = 0; i < 4; ++i) {
    KernelRow row;
    row.line = i + 2;
    row.shape = {1024.0 * (1 << i), 4096, 4096};
    row.latency_s = slower * 50e-6 * (1 << i);
    table.rows.push_back(row);
  }
  return table;
}

std::shared_ptr<const MfuDatabase> database(KernelTable table) {
  DatabaseOptions options;
  options.hardware = load_hardware("h200-sxm", test::source_dir());
  return MfuDatabase::from_tables({std::move(table)}, options);
}

}  // namespace

TEST_CASE("tables agree with themselves, measured, to the last bit") {
  const auto found = compare(*database(gemm(1)), *database(gemm(1)));
  REQUIRE(found.size() == 1);
  CHECK(found[0].evidence == Evidence::measured);
  CHECK(found[0].rows == 4);
  CHECK(found[0].p10 == 1);
  CHECK(found[0].p90 == 1);
  CHECK(found[0].worst == 1);
}

TEST_CASE("a database that is a tenth slower answers 1.1 times the rows of the other") {
  const auto found = compare(*database(gemm(1.1)), *database(gemm(1)));
  REQUIRE(found.size() == 1);
  CHECK(found[0].median == Approx(1.1));
  CHECK(found[0].p10 == Approx(1.1));
}

TEST_CASE("what was not measured is counted apart, and the farthest row is named") {
  KernelTable few = gemm(1);
  few.rows.erase(few.rows.begin() + 1);
  KernelTable bent = gemm(1);
  bent.rows[2].latency_s *= 4;  // the reference is wrong here: the answer is a quarter of it
  const auto found = compare(*database(few), *database(bent));
  REQUIRE(found.size() == 2);
  CHECK(found[0].evidence == Evidence::measured);
  CHECK(found[0].rows == 3);
  CHECK(found[0].worst == Approx(0.25));
  CHECK(found[0].worst_line == 4);
  CHECK(found[1].evidence == Evidence::interpolated);
  CHECK(found[1].rows == 1);
  CHECK(text(found).find("gemm_bf16\n  measured          3 rows") == 0);
}

TEST_CASE(
    "an H100 that borrows an H200's utilisation is within 10 percent of its own tables, by "
    "median") {
  if (!test::have_shared("tables/aic")) return;
  const auto open = [](const char* gpu, const char* hardware) {
    DatabaseOptions options;
    options.path = test::shared_data() / "tables/aic";
    options.layout = Layout::aic;
    options.gpu = gpu;
    options.hardware = load_hardware(hardware, test::source_dir());
    return options;
  };
  const auto own = MfuDatabase::open(open("h100_sxm", "h100-sxm"));
  DatabaseOptions borrowing;
  borrowing.hardware = load_hardware("h100-sxm", test::source_dir());
  borrowing.donor = MfuDatabase::open(open("h200_sxm", "h200-sxm"));
  const auto found = compare(*MfuDatabase::from_tables({}, borrowing), *own);
  REQUIRE(found.size() >= 5);
  std::printf("an H100 by an H200's utilisation, over an H100 (vLLM tables):\n%s",
              text(found).c_str());
  for (const Agreement& each : found) {
    CHECK(each.evidence == Evidence::stand_in);
    CHECK(std::abs(each.median - 1) < 0.1);
  }
}
