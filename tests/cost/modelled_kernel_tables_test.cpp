// The modelled kernel against measured vLLM kernels on H100 and H200: the error in each decade of
// the size that grows, printed, and bounded where the model promises it.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "cost/model/kernel.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

struct Measured {
  Query query;
  double size = 1;       // decides the decade
  double besides_s = 0;  // what was timed with the kernel
};

/// One row of a table as a query; nothing for rows that are not looked at.
using Reader = std::function<std::optional<Measured>(const CsvFile&, const CsvRow&)>;

double number(const CsvFile& file, const CsvRow& row, const char* column) {
  return file.number(row, file.require(column));
}

int whole(const CsvFile& file, const CsvRow& row, const char* column) {
  return int(number(file, row, column));
}

const std::string& text(const CsvFile& file, const CsvRow& row, const char* column) {
  return file.text(row, file.require(column));
}

/// Relative errors by decade, signed.
std::map<int, std::vector<double>> errors(const std::string& table, const Hardware& hardware,
                                          const Reader& read) {
  std::map<int, std::vector<double>> found;
  const CsvFile file = read_csv(test::shared_data() / table);
  for (const CsvRow& row : file.rows) {
    const auto measured = read(file, row);
    if (!measured) continue;
    const double latency_s = 1e-3 * number(file, row, "latency");
    const double modelled_s = modelled_kernel(measured->query, hardware).latency_s;
    const double error = (modelled_s + measured->besides_s) / latency_s - 1;
    found[int(std::floor(std::log10(measured->size)))].push_back(error);
  }
  return found;
}

double quantile(std::vector<double> values, double q, bool absolute) {
  if (absolute) {
    for (double& value : values) value = std::abs(value);
  }
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, std::size_t(q * values.size()))];
}

/// Prints one line per decade and GPU; every median must stay below `limit`.
void compare(const std::string& what, const std::string& size, const std::string& table,
             double limit, const Reader& read) {
  for (const std::string gpu : {"h100", "h200"}) {
    const std::string path = "tables/aic/" + gpu + "_sxm_" + table + "_vllm0.24.csv";
    if (!test::have_shared(path)) return;
    const Hardware hardware = load_hardware(gpu + "-sxm", test::source_dir());
    const auto by_decade = errors(path, hardware, read);
    REQUIRE(!by_decade.empty());
    for (const auto& [decade, values] : by_decade) {
      const double median = quantile(values, 0.5, true);
      std::printf(
          "%s %-22s %s >= 1e%d: median error %4.1f %%, p90 %5.1f %%, bias %+5.1f %%, "
          "%zu rows\n",
          gpu.c_str(), what.c_str(), size.c_str(), decade, 100 * median,
          100 * quantile(values, 0.9, true), 100 * quantile(values, 0.5, false), values.size());
      INFO(gpu << " " << what << " decade " << decade);
      CHECK(median < limit);
    }
  }
}

std::optional<Measured> gemm_row(const CsvFile& file, const CsvRow& row,
                                 const std::string& dtype_name, Dtype dtype) {
  if (text(file, row, "gemm_dtype") != dtype_name) return std::nullopt;
  Query query;
  query.op = Op::gemm;
  query.dtype = dtype;
  query.m = number(file, row, "m");
  query.k = number(file, row, "k");
  query.n = number(file, row, "n");
  return Measured{query, query.m};
}

std::optional<Measured> bf16_reader(const CsvFile& file, const CsvRow& row) {
  return gemm_row(file, row, "bfloat16", Dtype::bf16);
}

/// The FP8 rows are whole linear layers: the activations are quantised in front.
std::optional<Measured> fp8_reader(const CsvFile& file, const CsvRow& row) {
  static const Hardware h100 = load_hardware("h100-sxm", test::source_dir());
  auto measured = gemm_row(file, row, "fp8", Dtype::fp8);
  if (!measured) return measured;
  const Seconds quantize = quantize_time(measured->query.m, measured->query.k, h100);
  measured->besides_s = quantize / unit::s;
  return measured;
}

Query heads(Op op, const CsvFile& file, const CsvRow& row) {
  Query query;
  query.op = op;
  query.heads = whole(file, row, "num_heads");
  query.kv_heads = whole(file, row, "num_key_value_heads");
  query.head_dim = whole(file, row, "head_dim");
  query.batch = number(file, row, "batch_size");
  return query;
}

std::optional<Measured> prefill_reader(const CsvFile& file, const CsvRow& row) {
  Query query = heads(Op::attention_prefill, file, row);
  query.new_tokens = number(file, row, "isl");
  query.context_tokens = number(file, row, "step");
  return Measured{query, query.batch * query.new_tokens};
}

Reader decode_reader(const std::string& dtype_name, Dtype dtype) {
  return [=](const CsvFile& file, const CsvRow& row) -> std::optional<Measured> {
    if (text(file, row, "kv_cache_dtype") != dtype_name) return std::nullopt;
    Query query = heads(Op::attention_decode, file, row);
    query.kv_dtype = dtype;
    query.context_tokens = number(file, row, "isl") + number(file, row, "step");
    return Measured{query, query.batch * query.context_tokens};
  };
}

/// `num_tokens` enter the layer, of all ranks together.
Reader experts_reader(bool spread, const std::string& dtype_name, Dtype dtype) {
  return [=](const CsvFile& file, const CsvRow& row) -> std::optional<Measured> {
    if (text(file, row, "moe_dtype") != dtype_name) return std::nullopt;
    if ((number(file, row, "moe_ep_size") > 1) != spread) return std::nullopt;
    Query query;
    query.op = Op::grouped_gemm;
    query.dtype = dtype;
    query.experts = whole(file, row, "num_experts");
    query.experts_per_token = whole(file, row, "topk");
    query.tp = whole(file, row, "moe_tp_size");
    query.ranks = query.tp * whole(file, row, "moe_ep_size");
    query.hidden_size = number(file, row, "hidden_size");
    query.intermediate_size = number(file, row, "inter_size");
    const double tokens = number(file, row, "num_tokens");
    query.tokens = tokens / (query.ranks / query.tp);
    return Measured{query, tokens};
  };
}

}  // namespace

TEST_CASE("modelled bf16 GEMMs meet the measured ones in every decade of m") {
  compare("gemm bf16", "m", "gemm", 0.35, bf16_reader);
}

TEST_CASE("the constants fitted on bf16 hold for FP8 GEMMs after a quantisation") {
  compare("gemm fp8", "m", "gemm", 0.35, fp8_reader);
}

TEST_CASE("modelled prefill attention meets the measured one in every decade of tokens") {
  compare("attention_prefill", "tokens", "context_attention", 0.35, prefill_reader);
}

TEST_CASE("modelled decode attention meets the measured one in every decade of context") {
  compare("attention_decode bf16", "context", "generation_attention", 0.35,
          decode_reader("bfloat16", Dtype::bf16));
  compare("attention_decode fp8", "context", "generation_attention", 0.35,
          decode_reader("fp8", Dtype::fp8));
}

TEST_CASE("modelled experts meet the measured ones in every decade of tokens") {
  compare("experts bf16", "tokens", "moe", 0.35, experts_reader(false, "bfloat16", Dtype::bf16));
  compare("experts bf16, spread", "tokens", "moe", 0.35,
          experts_reader(true, "bfloat16", Dtype::bf16));
}

/// Block scales: per-tensor FP8 rows are of a CUTLASS kernel that is alike on both GPUs,
/// slower than bf16 in the same table. Nothing a datasheet tells; they are not modelled.
TEST_CASE(
    "modelled FP8 experts with block scales meet the measured ones in every decade of tokens") {
  compare("experts fp8_block", "tokens", "moe", 0.35,
          experts_reader(false, "fp8_block", Dtype::fp8));
  compare("experts fp8_block, spread", "tokens", "moe", 0.5,
          experts_reader(true, "fp8_block", Dtype::fp8));
}
