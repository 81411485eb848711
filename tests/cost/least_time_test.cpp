// The law of every price: no op takes less time than its reported bytes over the bandwidth, nor
// less than its reported flop over the peak of the format that it computes in. Only a measured row
// may, and answers between such rows: two causes allow it, and the rows show how far.
//
//     last-level cache   a kernel that is timed again and again finds a part of its bytes there:
//                        what does not fit comes from memory
//     8-bit attention    with a KV cache in FP8, some kernels multiply in FP8; the reported flop
//                        are held against the peak of 16 bits
//     skewed routing     reported bytes of experts are those of even routing; where most tokens go
//                        to few experts, fewer are read
//
// Lookups that imitate other software, and those that a user writes, answer what they answer.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "cost/database/mfu_database.h"
#include "cost/ops/declaration.h"
#include "cost/work/op_work.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

namespace fs = std::filesystem;
using Databases = std::vector<std::pair<std::string, std::shared_ptr<const MfuDatabase>>>;

constexpr double rounding = 1 - 1e-9;
/// Of all rows, B200's latent decode over 9.7 GB of FP8 cache is the fastest: 0.77.
constexpr double least_of_8_bits = 0.75;
/// Of all rows, B200's layers of 512 experts, of which 22 per token, are the fastest: 0.61.
constexpr double least_of_skewed = 0.6;

std::vector<std::string> gpus() {
  std::vector<std::string> found;
  for (const auto& each : fs::directory_iterator(test::source_dir() / "bench_data")) {
    if (fs::exists(each.path() / "hardware.toml")) found.push_back(each.path().filename());
  }
  std::sort(found.begin(), found.end());
  return found;
}

DatabaseOptions options_of(const std::string& gpu) {
  DatabaseOptions options;
  options.hardware = load_hardware(gpu, test::source_dir());
  options.lenders = {{"vllm", "flashinfer"}, {"sglang", "flashinfer"}, {"trtllm", "trtllm"}};
  return options;
}

/// Every path that answers: each engine's rows first, each way to read between rows, and the models
/// alone.
Databases databases_of(const std::string& gpu) {
  DatabaseOptions options = options_of(gpu);
  const auto own = MfuDatabase::open(options);
  Databases all;
  for (const Lender& each : options.lenders)
    all.emplace_back(each.engine, own->of_engine(each.engine));
  for (const char* lookup : {"nearest", "linear", "log_linear", "latency_linear"})
    all.emplace_back(lookup, own->with_lookup(lookup));
  options.hardware->tables_from.clear();
  all.emplace_back("models", MfuDatabase::from_tables({}, options));
  return all;
}

/// Largest random value of a field, by its name or else by its unit.
double most(const Field& field) {
  static const std::map<std::string_view, double> by_name{
      {"context_tokens", 131072}, {"window", 8192},      {"conv", 8},
      {"experts_per_token", 16},  {"key_head_dim", 256}, {"value_head_dim", 256},
      {"head_dim", 256},          {"ratio", 128},        {"qk_rope_head_dim", 256}};
  static const std::map<std::string_view, double> by_unit{
      {"heads", 128},  {"experts", 512},    {"ranks", 16},  {"requests", 512}, {"tokens", 32768},
      {"rows", 32768}, {"elements", 16384}, {"bytes", 1e9}, {"SMs", 132}};
  if (const auto found = by_name.find(field.name); found != by_name.end()) return found->second;
  const auto found = by_unit.find(field.unit);
  return found == by_unit.end() ? 4 : found->second;
}

class Shapes {
 public:
  Query pick(Op op) {
    const auto formats = number_formats();
    Query query;
    query.op = op;
    query.dtype = formats[static_cast<std::size_t>(below(double(formats.size())))].dtype;
    query.kv_dtype = below(2) < 1 ? Dtype::bf16 : Dtype::fp8;
    for (const Field& field : declaration_of(op).fields)
      if (field.number) field.number(query) = value(field);
    query.kv_heads = std::min(query.kv_heads, query.heads);
    query.experts_per_token = std::min(query.experts_per_token, query.experts);
    return query;
  }

 private:
  double below(double most) { return std::uniform_real_distribution<double>(0, most)(random_); }
  double value(const Field& field) {
    if (field.kind == FieldKind::flag) return std::floor(below(2));
    if (field.kind == FieldKind::word) return 1 + std::floor(below(double(field.words.size())));
    const double least = field.need == FieldNeed::two ? 2 : 1;
    const double number = std::max(least, std::floor(std::exp(below(std::log(most(field) + 1)))));
    // Half of all sizes are powers of two, as most of those that were measured.
    return below(2) < 1 ? number : std::exp2(std::floor(std::log2(number)));
  }
  std::mt19937_64 random_{20261126};
};

/// What an answer of this evidence takes at least.
double least_s(const Query& query, Evidence evidence, const Hardware& gpu) {
  LeastTime least = least_time(query, gpu);
  if (evidence > Evidence::interpolated) return least.time_s();
  const OpDeclaration& op = declaration_of(query.op);
  const bool cached = op.format_of_kv || op.find("kv_dtype") != nullptr;
  if (cached && bytes_per_element(query.kv_dtype) < 2) least.arithmetic_s *= least_of_8_bits;
  if (op.find("distribution") != nullptr) least.traffic_s *= least_of_skewed;
  if (op.over_links) return least.time_s();
  // A state that is read and written again, and is kept by a cache, saves both ways.
  const bool has_states = op.find("key_head_dim") != nullptr;
  const double cached_s = (has_states ? 2 : 1) * (gpu.l2 / gpu.memory_bandwidth / unit::s);
  return std::max(least.arithmetic_s, least.traffic_s - cached_s);
}

std::string words(const Query& query) {
  std::string text = std::string(name(query.op)) + " " + std::string(name(query.dtype)) + " kv " +
                     std::string(name(query.kv_dtype));
  for (const Field& field : declaration_of(query.op).fields) {
    char number[60];
    if (!field.number) continue;
    std::snprintf(number, sizeof number, "%.17g", field.number(query));
    text += " " + std::string(field.name) + "=" + number;
  }
  return text;
}

/// 0 where nothing answers: no table and no model, or no peak of the format.
double share_of_least(const MfuDatabase& database, const Query& query) {
  try {
    const Estimate& found = database.estimate(query);
    return found.latency_s / least_s(query, found.evidence, *database.hardware());
  } catch (const Error&) {
    return 0;
  }
}

bool breaks_the_law(const MfuDatabase& database, const Query& query) {
  const double share = share_of_least(database, query);
  return share != 0 && !(share >= rounding);
}

/// The smallest question of its kind that breaks the law too: each number is halved while it does.
Query shrunk(const MfuDatabase& database, Query query) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const Field& field : declaration_of(query.op).fields) {
      if (!field.number || field.kind == FieldKind::word) continue;
      Query half = query;
      field.number(half) = std::floor(field.number(query) / 2);
      if (field.number(half) < 1 || !breaks_the_law(database, half)) continue;
      query = half, smaller = true;
    }
  }
  return query;
}

bool has_work(const OpDeclaration& op) {
  return op.flop != nullptr || op.bytes != nullptr;
}

}  // namespace

TEST_CASE("no price is below its reported work, of any op, shape, format, GPU and evidence") {
  Shapes shapes;
  std::map<Evidence, int> answers;
  for (const std::string& gpu : gpus()) {
    for (const auto& [path, database] : databases_of(gpu)) {
      for (std::size_t op = 0; op < declared_ops().size(); ++op) {
        if (!has_work(declared_ops()[op])) continue;
        for (int round = 0; round < 20; ++round) {
          const Query query = shapes.pick(static_cast<Op>(op));
          if (share_of_least(*database, query) == 0) continue;
          ++answers[database->estimate(query).evidence];
          if (!breaks_the_law(*database, query)) continue;
          const Query small = shrunk(*database, query);
          INFO(gpu << ", " << path << ": " << words(small) << ": " << database->describe(small));
          CHECK(share_of_least(*database, small) >= rounding);
        }
      }
    }
  }
  for (const EvidenceWord& each : evidence_words) {
    INFO(each.name);
    CHECK(answers[each.value] > 50);
  }
}

TEST_CASE("a measured row beats the datasheet by what a cache holds, 8-bit attention and skew") {
  int beating = 0, rows = 0;
  for (const std::string& gpu : gpus()) {
    const auto database = MfuDatabase::open(options_of(gpu));
    const Hardware& hardware = *database->hardware();
    for (const KernelTable* table : database->tables()) {
      // A row of `single` is one of the GEMMs whose work its question is.
      if (!has_work(declaration_of(table->op)) || table->variant == "single") continue;
      for (const KernelRow& row : table->rows) {
        Query query = query_of(*table, row);
        if (declaration_of(table->op).format_of_kv) query.kv_dtype = table->dtype;
        ++rows;
        beating += row.latency_s < least_time(query, hardware).time_s();
        if (row.latency_s >= rounding * least_s(query, Evidence::measured, hardware)) continue;
        INFO(gpu << ", " << table->name << ": " << words(query));
        CHECK(row.latency_s >= rounding * least_s(query, Evidence::measured, hardware));
      }
    }
  }
  CHECK(rows > 100000);
  CHECK(beating > 1000);  // else the allowances above are not needed
}
