// What the rows of a table say of a row that was taken away.

#include "cost/quality/leave_out.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "cost/database/mfu_database.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

Hardware h200() {
  return load_hardware("h200-sxm", test::source_dir());
}

/// One GEMM shape whose latency is a straight line in m: 10 us + m ns, at m = 1000, 2000, ... 5000.
KernelTable straight() {
  KernelTable table;
  table.name = "gemm_bf16";
  table.op = Op::gemm;
  table.axes = axis_names(Op::gemm);
  table.convention = FlopConvention::gemm_2mkn;
  for (int i = 1; i <= 5; ++i) {
    KernelRow row;
    row.line = i + 1;
    row.shape = {1000.0 * i, 4096, 4096};
    row.latency_s = 10e-6 + 1e-9 * 1000 * i;
    table.rows.push_back(row);
  }
  return table;
}

const LeftOut& at(const std::vector<LeftOut>& rows, int row) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const LeftOut& r) { return r.row == row; });
  REQUIRE(found != rows.end());
  return *found;
}

std::shared_ptr<const MfuDatabase> open(const char* tables, Layout layout, const char* gpu,
                                        const char* hardware) {
  DatabaseOptions options;
  options.path = test::shared_data() / "tables" / tables;
  options.layout = layout;
  options.gpu = gpu;
  options.hardware = load_hardware(hardware, test::source_dir());
  return MfuDatabase::open(options);
}

}  // namespace

TEST_CASE("a row between two others on a straight line is predicted exactly, at its distance") {
  const auto rows = leave_out(straight(), "latency_linear", h200(), Leave::row, 100);
  REQUIRE(rows.size() == 5);
  for (const int inside : {1, 2, 3}) {
    CHECK(std::abs(at(rows, inside).error()) < 1e-12);
    CHECK(at(rows, inside).evidence == Evidence::interpolated);
  }
  CHECK(at(rows, 1).distance == Approx(std::log2(1.5)));  // 3000 is nearer to 2000 than 1000 is
  CHECK(at(rows, 0).evidence == Evidence::extrapolated);
  CHECK(at(rows, 4).evidence == Evidence::extrapolated);
  CHECK(at(rows, 4).error() > 0);  // by the work ratio, launch and all
}

TEST_CASE("the table is not changed, and the row itself never answers") {
  const KernelTable table = straight();
  KernelTable bent = table;
  bent.rows[2].latency_s *= 10;  // an outlier is predicted by the others, far from itself
  const auto rows = leave_out(bent, "latency_linear", h200(), Leave::row, 100);
  CHECK(at(rows, 2).error() == Approx(table.rows[2].latency_s / bent.rows[2].latency_s - 1));
}

TEST_CASE("rows are thinned evenly, twins are passed over, and a lone row has none") {
  KernelTable table = straight();
  CHECK(leave_out(table, "nearest", h200(), Leave::row, 2).size() == 2);
  table.rows.push_back(table.rows[2]);
  const auto rows = leave_out(table, "nearest", h200(), Leave::row, 100);
  CHECK(rows.size() == 4);
  table.rows.resize(1);
  CHECK(leave_out(table, "nearest", h200(), Leave::row, 100).empty());
}

TEST_CASE("without its whole shape a row has stand-ins only") {
  KernelTable table = straight();
  CHECK(leave_out(table, "latency_linear", h200(), Leave::shape, 100).empty());
  for (int i = 0; i < 5; ++i) {
    table.rows.push_back(table.rows[static_cast<std::size_t>(i)]);
    table.rows.back().shape[1] = 8192;
    table.rows.back().latency_s *= 2;
  }
  const auto rows = leave_out(table, "latency_linear", h200(), Leave::shape, 100);
  REQUIRE(rows.size() == 10);
  for (const LeftOut& row : rows) {
    CHECK(row.evidence >= Evidence::extrapolated);
    CHECK(row.distance > 0.9);
  }
}

TEST_CASE("experts in tables of ours are asked for as pairs, and both halves are taken away") {
  KernelTable table;
  table.name = "grouped_gemm_bf16";
  table.op = Op::grouped_gemm;
  table.variant = "single";
  table.axes = axis_names(Op::grouped_gemm);
  table.labels = {"balanced", "power_law_1.01"};
  for (const double distribution : {0.0, 1.0}) {
    for (const double tokens : {100.0, 200.0, 300.0}) {
      for (const bool up : {true, false}) {
        KernelRow row;
        row.shape = {8, 1, 8, 2, up ? 1000.0 : 2000.0, up ? 4000.0 : 1000.0, tokens, distribution};
        row.latency_s = (up ? 20e-6 : 10e-6) + tokens * 1e-8 + (distribution == 0 ? 1 : 0);
        table.rows.push_back(row);
      }
    }
  }
  const auto rows = leave_out(table, "latency_linear", h200(), Leave::row, 100);
  REQUIRE(rows.size() == 3);  // the usual distribution, one question per pair
  const LeftOut& middle = at(rows, 8);
  CHECK(middle.measured_s == Approx(34e-6));
  CHECK(std::abs(middle.error()) < 1e-12);
  CHECK(middle.evidence == Evidence::interpolated);
  CHECK(middle.distance > 0);
}

TEST_CASE("an unknown lookup is named, with what is known") {
  CHECK_THROWS_WITH(leave_out(straight(), "latency_liner", h200(), Leave::row, 10),
                    ContainsSubstring("latency_linear"));
}

TEST_CASE(
    "latency_linear predicts the rows that were left out of the InferSim tables within 12 "
    "percent") {
  if (!test::have_shared("tables/infersim")) return;
  const auto database = open("infersim", Layout::infersim, "h20", "h20");
  std::printf(
      "left out one by one, mean error between rows: table, nearest, linear, log_linear, "
      "latency_linear\n");
  for (const KernelTable* table : database->tables()) {
    std::printf("  %-36s", table->name.c_str());
    for (const char* lookup : {"nearest", "linear", "log_linear", "latency_linear"}) {
      const LeaveOneOut error =
          summary(*table, leave_out(*table, lookup, database->hardware(), Leave::row, 1000000));
      std::printf(" %5.1f %%", 100 * error.mape_inside);
      if (std::string(lookup) == "latency_linear" && error.rows_inside > 0)
        CHECK(error.mape_inside < 0.12);
    }
    std::printf("\n");
  }
}

TEST_CASE("the error of the vLLM tables of an H200 grows with the distance, row and shape") {
  if (!test::have_shared("tables/aic")) return;
  const auto database = open("aic", Layout::aic, "h200_sxm", "h200-sxm");
  std::printf("H200, latency_linear: table, rows, mean error between rows, of absent shapes\n");
  for (const KernelTable* table : database->tables()) {
    const bool checked = table->op == Op::gemm || table->op == Op::grouped_gemm ||
                         table->op == Op::attention_decode || table->op == Op::attention_prefill;
    if (!checked) continue;
    const auto row = leave_out(*table, "latency_linear", database->hardware(), Leave::row, 60);
    const auto shape = leave_out(*table, "latency_linear", database->hardware(), Leave::shape, 60);
    const LeaveOneOut rows = summary(*table, row), shapes = summary(*table, shape);
    std::printf("  %-40s %4d %6.1f %% %6.1f %%\n", table->name.c_str(), rows.rows,
                100 * rows.mape_inside, 100 * shapes.mape);
    REQUIRE(rows.rows_inside > 20);
    CHECK(rows.mape_inside < 0.15);
    for (const LeftOut& each : row) CHECK(each.distance > 0);
  }
}
