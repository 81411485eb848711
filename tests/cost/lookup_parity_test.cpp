// The reference policies agree with the programs they come from, to the last bit, on every recorded
// call.

#include <bit>
#include <map>

#include "base/json.h"
#include "cost/database/mfu_database.h"
#include "cost/lookup/lookup.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

struct Count {
  int compared = 0, mismatched = 0;
  std::string first;
  void compare(bool same, const std::string& what) {
    ++compared;
    if (same) return;
    if (++mismatched <= 5) first += what + "\n";
  }
};

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

class InferSim {
 public:
  InferSim(std::string tables, std::string lookup)
      : tables_(std::move(tables)), lookup_(std::move(lookup)) {}
  const MfuDatabase& of(const std::string& gpu) {
    auto& database = databases_[gpu];
    if (!database) {
      DatabaseOptions options;
      options.path = test::shared_data() / tables_;
      options.layout = Layout::infersim;
      options.gpu = gpu;
      options.lookup = lookup_;
      database = MfuDatabase::open(options);
    }
    return *database;
  }

 private:
  std::string tables_, lookup_;
  std::map<std::string, std::shared_ptr<const MfuDatabase>> databases_;
};

/// The call of a row, as a query; column names are those of the recording.
Query query_of_call(const std::string& fn, const std::map<std::string, const Json*>& c) {
  Query q;
  const auto number = [&](const char* name) { return c.at(name)->number(); };
  const auto whole = [&](const char* name) { return static_cast<int>(number(name)); };
  const bool mla = c.count("kind") && c.at("kind")->text() == "mla";
  if (fn == "get_attn_decode_mfu") {
    q.op = mla ? Op::mla_decode : Op::attention_decode;
    q.heads = whole("nh");
    (mla ? q.kv_lora_rank : q.kv_heads) = whole("nkv_or_rank");
    (mla ? q.qk_rope_head_dim : q.head_dim) = whole("head_dim_or_rope");
    q.batch = number("bs");
    q.context_tokens = number("kv_len");
    q.kv_dtype = c.at("fp8_kv")->boolean() ? Dtype::fp8 : Dtype::bf16;
  } else if (fn == "get_attn_prefill_mfu") {
    q.op = mla ? Op::mla_prefill : Op::attention_prefill;
    q.heads = whole("nh");
    (mla ? q.qk_nope_head_dim : q.kv_heads) = whole("nkv_or_nope");
    (mla ? q.qk_rope_head_dim : q.head_dim) = whole("head_dim_or_rope");
    q.new_tokens = number("seq_len");
  } else if (fn.starts_with("get_groupedgemm")) {
    q.op = Op::grouped_gemm;
    q.decode = fn == "get_groupedgemm_decode_mfu";
    q.experts = whole("num_experts");
    q.ranks = whole("num_gpus");
    q.experts_per_token = whole("topk");
    q.hidden_size = number("hidden");
    q.intermediate_size = number("intermediate(config, before /tp)");
    q.tp = whole("tp");
    q.tokens = number("q(bs or seq_len)");
  } else if (fn == "get_gemm_mfu") {
    q.m = number("m"), q.k = number("k"), q.n = number("n");
  } else {
    q.op = Op::linear_attention;
    q.decode = fn == "get_linear_attn_decode_latency";
    q.conv = whole("conv");
    q.key_heads = whole("k_heads"), q.key_head_dim = whole("k_dim");
    q.value_heads = whole("v_heads"), q.value_head_dim = whole("v_dim");
    (q.decode ? q.batch : q.new_tokens) = number("q");
  }
  return q;
}

std::string exception_of(LookupFailure failure) {
  switch (failure) {
    case LookupFailure::no_table:
      return "AssertionError";
    case LookupFailure::no_rows:
      return "ValueError";
    case LookupFailure::division_by_zero:
      return "ZeroDivisionError";
  }
  return "";
}

bool same_answer(const MfuDatabase& database, const Query& query, const Json& result,
                 const Json* exception, const Json* sel) {
  const std::string raised = exception == nullptr || exception->is_null() ? "" : exception->text();
  try {
    const Estimate& e = database.estimate(query);
    if (!raised.empty()) return false;
    if (sel != nullptr && !sel->is_null() && sel->integer() != e.selected_row) return false;
    if (result.is_array()) {
      return same_bits(result.items()[0].number(), e.mfu_up) &&
             same_bits(result.items()[1].number(), e.mfu_down);
    }
    return same_bits(result.number(), query.op == Op::linear_attention ? e.latency_us : e.mfu);
  } catch (const LookupError& error) {
    return !raised.empty() && raised.starts_with(exception_of(error.failure()) + ":");
  }
}

Count compare_infersim(const std::string& golden, const std::string& tables,
                       const std::string& lookup) {
  const Json document = read_json(test::shared_data() / "golden" / golden);
  InferSim databases(tables, lookup);
  Count count;
  for (const Json& block : document.find("blocks")->items()) {
    const std::string& fn = block.find("fn")->text();
    const auto& columns = block.find("columns")->items();
    for (const Json& row : block.find("rows")->items()) {
      std::map<std::string, const Json*> cells;
      for (std::size_t i = 0; i < columns.size(); ++i) cells[columns[i].text()] = &row.items()[i];
      const auto cell = [&](const char* name) {
        return cells.count(name) ? cells.at(name) : nullptr;
      };
      if (fn == "python_round3") {
        count.compare(same_bits(round3(cell("x")->number()), cell("result")->number()), fn);
        continue;
      }
      const Json& result = cell("result_us") ? *cell("result_us") : *cell("result");
      count.compare(same_answer(databases.of(cell("device")->text()), query_of_call(fn, cells),
                                result, cell("exception"), cell("sel")),
                    fn + " " + dump_json(row));
    }
  }
  return count;
}

void set_heads(Query& q, const std::string& config) {
  REQUIRE(std::sscanf(config.c_str(), "%lf-%lf-%lf", &q.heads, &q.kv_heads, &q.head_dim) == 3);
}

std::shared_ptr<const MfuDatabase> blis_h100() {
  DatabaseOptions options;
  options.path = test::shared_data() / "tables/blis_h100";
  options.layout = Layout::blis;
  options.gpu = "H100";
  options.lookup = "blis487";
  return MfuDatabase::open(options);
}

}  // namespace

TEST_CASE("infersim_head answers as InferSim at f2293da") {
  if (!test::have_shared("golden/infersim_head_lookups.json")) return;
  const Count count =
      compare_infersim("infersim_head_lookups.json", "tables/infersim", "infersim_head");
  INFO(count.first);
  CHECK(count.compared > 4000);
  CHECK(count.mismatched == 0);
}

TEST_CASE("infersim_floor answers as InferSim at 3e99354") {
  if (!test::have_shared("golden/infersim_floor_lookups.json")) return;
  const Count count =
      compare_infersim("infersim_floor_lookups.json", "tables/infersim_floor", "infersim_floor");
  INFO(count.first);
  CHECK(count.compared > 4000);
  CHECK(count.mismatched == 0);
}

TEST_CASE("blis487 answers as inference-sim at 487017bc") {
  if (!test::have_shared("golden/blis487_lookups.json")) return;
  const auto database = blis_h100();
  Count count;
  const Json document = read_json(test::shared_data() / "golden/blis487_lookups.json");
  for (const Json& row : document.items()) {
    const std::string& op = row.find("op")->text();
    Query q;
    if (op == "gemm") {
      q.m = row.find("m")->number(), q.k = row.find("k")->number(), q.n = row.find("n")->number();
    } else {
      set_heads(q, row.find("config")->text());
      q.op = op == "prefill" ? Op::attention_prefill : Op::attention_decode;
      if (op == "prefill") q.new_tokens = row.find("seq_len")->number();
      if (op == "decode") {
        q.batch = row.find("batch")->number();
        q.context_tokens = row.find("kv")->number();
        q.tp = static_cast<int>(row.find("tp")->integer());
      }
    }
    count.compare(same_bits(database->estimate(q).mfu, row.find("mfu")->number()), dump_json(row));
  }
  INFO(count.first);
  CHECK(count.compared > 4000);
  CHECK(count.mismatched == 0);
}

TEST_CASE("blis487 resolves a foreign shape to the file that inference-sim resolves it to") {
  if (!test::have_shared("golden/blis487_configs.json")) return;
  const auto database = blis_h100();
  const Json document = read_json(test::shared_data() / "golden/blis487_configs.json");
  Count count;
  for (const Json& pair : document.find("nearest")->items()) {
    Query q;
    q.op = Op::attention_prefill;
    q.new_tokens = 4096;
    set_heads(q, pair.find("target")->text());
    const std::string wanted = "mha/prefill/h100/" + pair.find("nearest")->text() + ".csv";
    count.compare(database->describe(q).find(wanted) != std::string::npos, dump_json(pair));
  }
  INFO(count.first);
  CHECK(count.compared > 0);
  CHECK(count.mismatched == 0);
}
