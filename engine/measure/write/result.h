#pragma once
// Results as documents: the JSON that `rooflua run --json` writes, and the difference of two of
// them.
//
//     {schema, scenario, seed, variants: [{name, parameters, summary: {requests, completed,
//      failed: {reason: n}, ..., ttft_s: {mean, std, min, p50, p90, p95, p99, max}, ...,
//      evidence: {measured: share}, noted_frac}}]}
//
// noted_frac is there where notes of the model touch operations (Summary::noted_frac).
//
// A variant whose workload did not send everything also has left_out (measure/write/left_out.h).
// A figure that does not exist (no second token, no completed request) is null. No wall-clock
// time in it.

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "measure/record/summary.h"

namespace rooflua {

inline constexpr std::int64_t result_schema = 1;

/// One run of a scenario.
struct Variant {
  std::string name;  // "max_num_batched_tokens=512"; "" where the scenario varies nothing
  Json parameters = Json::object();
  Summary summary;
};

struct Result {
  std::string scenario;  // file
  std::string title;
  std::int64_t seed = 0;
  std::vector<Variant> variants;
};

/// Figures that do not exist are NaN in these values, and null once they are written as text.
Json to_json(const Statistics& statistics);
Json to_json(const Summary& summary);
Json to_json(const Result& result);

/// The summary as it is read back from its JSON text: figures that do not exist are null.
Json document(const Summary& summary);

/// A document with its key `build`: after `schema`, or at its end where it has none.
Json with_build(const Json& document);

/// The inverse, exact: for summaries of files and of worker processes.
/// @throws Error naming the key that is missing or of another kind
Summary summary_from_json(const Json& summary, const std::string& file);

/// One value that is not the same in two documents.
struct Difference {
  std::string path;     // "variants[0].summary.ttft_s.p99"
  std::string a, b;     // as JSON; "absent" where one has no such key
  double relative = 0;  // |a - b| / max(|a|, |b|) of two numbers; infinite for anything else
};

struct Comparison {
  std::int64_t compared = 0;  // numbers, texts, booleans and nulls
  double largest = 0;         // of all relative differences, also of those within the tolerance
  std::vector<Difference> differences;  // above the tolerance, in the order of the first document
};

/// Two documents, value by value. Members are matched by name, whatever their order; variants by
/// position. The key `build` of a document is not compared.
Comparison compare(const Json& a, const Json& b, double tolerance);

}  // namespace rooflua
