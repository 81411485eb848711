// Whose rows answer: those of the engine asked for, then those of projects and libraries, then
// those of other engines. Rows that tables.toml keeps from answering never do.

#include <cmath>
#include <random>

#include "cost/database/mfu_database.h"
#include "cost/quality/leave_out.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

Hardware plain_gpu() {
  Hardware gpu;
  gpu.name = "plain";
  gpu.peak[Dtype::bf16] = FlopPerSecond(100e12);
  gpu.peak[Dtype::fp8] = FlopPerSecond(200e12);
  gpu.memory_bandwidth = BytesPerSecond(1e12);
  gpu.link_bandwidth = BytesPerSecond(100e9);
  gpu.sms = 100;
  gpu.clock_hz = 1e9;
  return gpu;
}

using Row = std::array<double, max_axes>;

/// Rows of one origin, which all take as many microseconds: an answer says by its time whose it is.
KernelTable rows_of(const std::string& engine, double us, Op op, const std::vector<Row>& shapes,
                    Dtype dtype = Dtype::bf16) {
  KernelTable table;
  table.engine = engine;
  table.name = std::string(name(op)) + "_" + std::string(name(dtype)) + "_" + engine;
  table.op = op;
  table.dtype = dtype;
  table.axes = axis_names(op);
  for (const Row& shape : shapes) {
    KernelRow row;
    row.line = static_cast<int>(table.rows.size()) + 2;
    row.latency_s = us * 1e-6;
    row.shape = shape;
    table.rows.push_back(row);
  }
  return table;
}

std::shared_ptr<const MfuDatabase> open(std::vector<KernelTable> tables,
                                        const std::string& engine = "vllm") {
  DatabaseOptions options;
  options.hardware = plain_gpu();
  options.engine = engine;
  options.lenders = {{"vllm", "flashinfer"}, {"sglang", "flashinfer"}, {"trtllm", "tensorrt"}};
  return MfuDatabase::from_tables(std::move(tables), options);
}

Query gemm(double m, double k, double n, Dtype dtype = Dtype::bf16) {
  Query query;
  query.op = Op::gemm;
  query.dtype = dtype;
  query.m = m, query.k = k, query.n = n;
  return query;
}

Query decode(double heads, double kv_heads, double batch, double context) {
  Query query;
  query.op = Op::attention_decode;
  query.heads = heads, query.kv_heads = kv_heads, query.head_dim = 128;
  query.batch = batch, query.context_tokens = context;
  return query;
}

double us_of(const MfuDatabase& database, const Query& query) {
  return database.estimate(query).latency_s * 1e6;
}

double some_power(std::mt19937& draw, int least, int most) {
  return std::exp2(std::uniform_int_distribution<int>(least, most)(draw));
}

}  // namespace

TEST_CASE("a project's own kernels never beat a row of the engine that is asked for") {
  std::mt19937 draw(20261126);
  for (int i = 0; i < 300; ++i) {
    const std::string engine = std::array{"vllm", "sglang", "trtllm"}[draw() % 3];
    std::vector<Row> published, own;
    for (int row = 0; row < 4; ++row)
      published.push_back(
          {some_power(draw, 0, 10), some_power(draw, 9, 13), some_power(draw, 9, 13)});
    own = published;
    for (int row = 0; row < 6; ++row)
      own.push_back({some_power(draw, 0, 10), some_power(draw, 9, 13), some_power(draw, 9, 13)});
    std::vector<KernelTable> tables{rows_of("rooflua", 7, Op::gemm, own),
                                    rows_of(engine, 3, Op::gemm, published)};
    if (draw() % 2 == 0) std::swap(tables[0], tables[1]);
    const auto database = open(tables, engine);
    for (const Row& row : published) {
      const Estimate& answer = database->estimate(gemm(row[0], row[1], row[2]));
      CHECK(answer.latency_s * 1e6 == Approx(3));
      CHECK(answer.evidence == Evidence::measured);
    }
  }
}

TEST_CASE(
    "a project's own rows of the shape answer before another engine's, never before one's own") {
  const std::vector<Row> wanted{{16, 1000, 1000}}, far{{16, 64000, 64000}};
  const Query query = gemm(16, 1000, 1000);
  const auto own = rows_of("rooflua", 7, Op::gemm, wanted);
  CHECK(us_of(*open({own, rows_of("trtllm", 5, Op::gemm, wanted)}), query) == Approx(7));
  CHECK(us_of(*open({own, rows_of("vllm", 3, Op::gemm, wanted)}), query) == Approx(3));
  CHECK(us_of(*open({own, rows_of("vllm", 3, Op::gemm, far)}), query) == Approx(7));
  auto shared = rows_of("sglang", 4, Op::gemm, wanted);
  shared.engines = {"vllm"};
  CHECK(us_of(*open({own, shared}), query) == Approx(4));
  CHECK(us_of(*open({own, rows_of("", 2, Op::gemm, wanted), shared}), query) == Approx(2));
  // Another format is a doubling away, whichever engine timed it.
  const auto other_format = rows_of("vllm", 3, Op::gemm, wanted, Dtype::fp8);
  CHECK(us_of(*open({own, other_format}), query) == Approx(7));
}

TEST_CASE("rows that must not answer leave every answer as it is without them") {
  const std::vector<Row> heads{{32, 8, 128, 16, 1024}, {32, 8, 128, 16, 4096}};
  const std::vector<Row> more{{20, 20, 128, 16, 1024}, {20, 20, 128, 16, 4096}};
  auto own = rows_of("rooflua", 7, Op::attention_decode, more);
  const auto engine = rows_of("vllm", 3, Op::attention_decode, heads);
  for (const Query& query :
       {decode(32, 8, 16, 1024), decode(20, 20, 16, 1024), decode(8, 8, 1, 300)}) {
    for (const bool with_engine : {true, false}) {
      std::vector<KernelTable> tables;
      if (with_engine) tables.push_back(engine);
      const Estimate before = open(tables)->estimate(query);
      own.answers = true;
      tables.push_back(own);
      const Estimate answered = open(tables)->estimate(query);
      tables.back().answers = false;
      const auto database = open(tables);
      const Estimate after = database->estimate(query);
      CHECK(after.latency_s == before.latency_s);
      CHECK(after.evidence == before.evidence);
      CHECK(after.distance == before.distance);
      if (query.heads == 20) CHECK(answered.latency_s * 1e6 == Approx(7));  // it would answer
      CHECK(database->tables().size() == tables.size());  // to be read and compared
    }
  }
}

TEST_CASE("an op whose only rows must not answer is modelled, and says so") {
  auto own = rows_of("rooflua", 7, Op::gemm, {{16, 1000, 1000}});
  own.answers = false;
  own.includes = {"quantize"};
  const auto database = open({own});
  CHECK(database->estimate(gemm(16, 1000, 1000)).evidence == Evidence::modelled);
  CHECK(database->only_models(Op::gemm));
  CHECK_FALSE(database->holds_format(Op::gemm, Dtype::bf16));
  CHECK_FALSE(database->includes(Op::gemm, Dtype::bf16, "quantize"));
}

TEST_CASE("rows that must not answer still predict each other, so that their quality can be told") {
  auto own =
      rows_of("rooflua", 7, Op::gemm, {{16, 1000, 1000}, {32, 1000, 1000}, {64, 1000, 1000}});
  const auto answered = leave_out(own, "latency_log", plain_gpu(), Leave::row, 10);
  own.answers = false;
  const auto kept = leave_out(own, "latency_log", plain_gpu(), Leave::row, 10);
  REQUIRE(answered.size() == 3);
  REQUIRE(kept.size() == answered.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    CHECK(kept[i].predicted_s == answered[i].predicted_s);
    CHECK(kept[i].evidence == answered[i].evidence);
  }
}
