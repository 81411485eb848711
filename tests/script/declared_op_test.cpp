// An op that is nothing but its declaration: what the list of ops has more than rooflua's own,
// every part of the program knows. This program has its own declared_ops().

#include <fstream>

#include "cost/database/mfu_database.h"
#include "cost/lookup/lookup.h"
#include "cost/ops/declaration.h"
#include "cost/quality/verify.h"
#include "tests/scratch.h"
#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr FieldWord engines[] = {{"vllm"}, {"sglang"}};
constexpr FieldWord distributions[] = {{"balanced"}, {"power_law_1.01"}};
constexpr Field fields[] = {{.name = "tokens",
                             .number = &Query::tokens,
                             .unit = "tokens",
                             .doc = "Tokens of one rank.",
                             .role = FieldRole::axis},
                            {.name = "state_size",
                             .number = QueryNumber::own(0),
                             .unit = "elements",
                             .doc = "Width of the state.",
                             .role = FieldRole::scale,
                             .kind = FieldKind::count},
                            {.name = "chunk",
                             .number = QueryNumber::own(1),
                             .unit = "tokens",
                             .doc = "Tokens of a chunk.",
                             .role = FieldRole::key,
                             .kind = FieldKind::count,
                             .need = FieldNeed::nothing,
                             .otherwise = 64},
                            {.name = "engine",
                             .number = QueryNumber::own(2),
                             .doc = "Whose kernel.",
                             .role = FieldRole::key,
                             .kind = FieldKind::word,
                             .need = FieldNeed::nothing,
                             .any = true,
                             .words = engines},
                            {.name = "distribution",
                             .number = QueryNumber::own(3),
                             .doc = "Of tokens over experts.",
                             .role = FieldRole::key,
                             .kind = FieldKind::word,
                             .need = FieldNeed::nothing,
                             .any = true,
                             .words = distributions}};

const std::vector<OpDeclaration>& more_ops() {
  static const std::vector<OpDeclaration> ops = [] {
    std::vector<OpDeclaration> list(standard_ops().begin(), standard_ops().end());
    OpDeclaration op;
    op.name = "state_scan";
    op.doc = "A recurrent layer that no formula of ours knows.";
    op.fields = fields;
    op.flop = [](const Query& q, double) { return 2 * q.tokens * q.own[0]; };
    op.peak = PeakOf::dtype;
    op.file = "state_scan";
    list.push_back(op);
    return list;
  }();
  return ops;
}

constexpr const char* table_text =
    "tokens,state_size,chunk,engine,distribution,latency_us\n"
    "100,128,64,vllm,balanced,10\n"
    "200,128,64,vllm,balanced,20\n"
    "100,128,64,sglang,balanced,30\n"
    "100,128,64,vllm,power_law_1.01,40\n"
    "100,128,256,vllm,balanced,50\n";

class Tables {
 public:
  Tables() : folder_(rooflua::test::scratch() / "declared_op") {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "state_scan_fp4.csv") << table_text;
  }
  ~Tables() { std::filesystem::remove_all(folder_); }
  const std::filesystem::path& folder() const { return folder_; }
  std::shared_ptr<const MfuDatabase> open() const {
    DatabaseOptions options;
    options.path = folder_;
    return MfuDatabase::open(options);
  }
  std::string lua() const {
    return "local db = require('rooflua.mfu').open { path = '" + folder_.string() + "' }\n";
  }

 private:
  std::filesystem::path folder_;
};

Query scan(double tokens, double state_size = 128, double engine = 0, double distribution = 0) {
  Query query;
  query.op = static_cast<Op>(standard_ops().size());
  query.dtype = Dtype::fp4;
  query.tokens = tokens;
  query.own[0] = state_size, query.own[1] = 64, query.own[2] = engine, query.own[3] = distribution;
  return query;
}

}  // namespace

namespace rooflua {
std::span<const OpDeclaration> declared_ops() {
  return more_ops();
}
}  // namespace rooflua

TEST_CASE("the ops that C++ code names are where it looks for them") {
  CHECK(name(Op::gemm) == "gemm");
  CHECK(name(Op::mla_decode) == "mla_decode");
  CHECK(name(Op::elementwise) == "elementwise");
  CHECK(name(Op::moe_layer) == "moe_layer");
  REQUIRE(standard_ops().size() > static_cast<std::size_t>(Op::moe_layer));
}

TEST_CASE("every declaration is whole") {
  for (const OpDeclaration& op : declared_ops()) {
    INFO(op.name);
    CHECK(!op.doc.empty());
    std::size_t numbers = 0, axes = 0;
    for (const Field& field : op.fields) {
      INFO(field.name);
      CHECK(!field.doc.empty());
      if (field.number) ++numbers;
      if (field.number && field.kind == FieldKind::word) CHECK(!field.words.empty());
    }
    for_each_axis(op, [&](const Field&, std::size_t place) { axes = place + 1; });
    CHECK(numbers <= max_fields);
    CHECK(axes <= max_axes);
  }
}

TEST_CASE("a table of a declared op is read, and answers along its axis") {
  const Tables tables;
  const auto db = tables.open();
  REQUIRE(db->tables().size() == 1);
  const KernelTable& table = *db->tables()[0];
  CHECK(table.name == "state_scan_fp4");
  CHECK(table.axes ==
        std::vector<std::string>{"tokens", "state_size", "chunk", "engine", "distribution"});
  const auto answer = [&](const Query& query) { return db->estimate(query); };
  CHECK(answer(scan(100, 128, 1, 1)).latency_s == Approx(10e-6));
  CHECK(answer(scan(100, 128, 1, 1)).evidence == Evidence::measured);
  CHECK(answer(scan(150, 128, 1, 1)).latency_s == Approx(15e-6));
  CHECK(answer(scan(150, 128, 1, 1)).evidence == Evidence::interpolated);
  CHECK(answer(scan(400, 128, 1, 1)).evidence == Evidence::extrapolated);
  CHECK(answer(scan(100, 128, 2, 1)).latency_s == Approx(30e-6));
  CHECK(answer(scan(100, 128, 1, 2)).latency_s == Approx(40e-6));
  CHECK(answer(scan(100)).latency_s == Approx(10e-6));  // any engine, any distribution
  CHECK(answer(scan(100)).evidence == Evidence::measured);
  CHECK(answer(scan(100)).flop == 2 * 100 * 128);
}

TEST_CASE("another key stands in, and the latency goes with what it scales") {
  const Tables tables;
  const auto db = tables.open();
  const Estimate wide = db->estimate(scan(100, 256, 1, 1));
  CHECK(wide.latency_s == Approx(20e-6));
  CHECK(wide.evidence == Evidence::stand_in);
  Query other = scan(100, 128, 1, 1);
  other.own[1] = 512;  // this chunk was not measured
  CHECK(db->estimate(other).evidence == Evidence::stand_in);
  other.dtype = Dtype::fp8;  // nor this format
  CHECK_THROWS_WITH(db->estimate(other), ContainsSubstring("no table of this op"));
  CHECK_THROWS_WITH(db->estimate(scan(0)), ContainsSubstring("state_scan.tokens"));
}

TEST_CASE("a declared op is verified and described") {
  const Tables tables;
  const auto db = tables.open();
  CHECK(has(db->describe(scan(150, 128, 1, 1)), "state_scan_fp4:2 (100, 128, 64, 0, 1) 10 us"));
  CHECK(verify(*db).errors() == 0);
  std::ofstream(tables.folder() / "state_scan_fp4.csv", std::ios::app)
      << "100,128,64,vllm,balanced,11\n";
  const VerifyReport report = verify(*tables.open());
  CHECK(report.errors() == 1);
  CHECK(has(report.text(), "keys that occur more than once: line 7 (tokens 100"));
  CHECK(verify(tables.folder(), tables.folder()).tables.size() == 1);
}

TEST_CASE("Lua asks a declared op by its fields") {
  const Tables tables;
  script::Vm vm(sandbox_options());
  CHECK(run(vm, tables.lua() + R"(
    local _, e = db:lookup { op = "state_scan", dtype = "fp4", tokens = 150, state_size = 128, engine = "vllm",
                             distribution = "balanced" }
    return ("%.3g %s"):format(e.latency_s, e.evidence)
  )") == "1.5e-05 interpolated");
  CHECK(run(vm, tables.lua() + R"(
    local asked = db:prepare { scan = { op = "state_scan", dtype = "fp4", tokens = "first", state_size = 128 } }
    local _, latency_s = asked:ask(200, 0)
    return ("%.3g"):format(latency_s.scan)
  )") == "2e-05");
  CHECK(has(complaint(vm, tables.lua() + "local m = db:lookup { op = 'state_scam' }"),
            "did you mean 'state_scan'"));
  CHECK(has(complaint(vm, tables.lua() + "local m = db:lookup { op = 'state_scan', chunks = 1 }"),
            "did you mean 'chunk'"));
  CHECK(
      has(complaint(vm, tables.lua() + "local m = db:lookup { op = 'state_scan', engine = 'vlm' }"),
          "did you mean 'vllm'"));
}

TEST_CASE("a lookup in Lua sees a declared op in words, and every table of it") {
  const Tables tables;
  std::ofstream(tables.folder() / "state_scan_fp8.csv") << table_text;
  script::Vm vm(sandbox_options());
  CHECK(run(vm, tables.lua() + R"(
    local seen
    local mine = db:with(function(t, query, tables)
      local near = t:near(query, 2)
      seen = { query.engine, query.state_size, query.chunk, #tables, t.name, t.ranges.tokens.most,
               near[1].tokens, near[2].tokens, #t:near({ tokens = 1, state_size = 1, engine = "sglang" }, 9) }
      return near[1].latency_s, "stand_in"
    end)
    mine:lookup { op = "state_scan", dtype = "fp4", tokens = 190, state_size = 128, engine = "vllm" }
    for i, value in ipairs(seen) do seen[i] = tostring(value) end
    return table.concat(seen, " ")
  )") == "vllm 128 64 2 state_scan_fp4 200 200 100 1");
}
