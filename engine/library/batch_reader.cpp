#include "library/batch_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

namespace rooflua::library {

namespace {

constexpr std::int64_t most_requests = 1'000'000;
constexpr std::int64_t most_tokens = 1'000'000'000;  // of one request
constexpr std::int64_t most_in_step = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t most_sum = std::int64_t{1} << 53;

[[noreturn]] void refuse(const std::string& field, const std::string& problem) {
  throw Misuse("batch: " + field, problem);
}

std::int64_t whole(const char* field, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return value;
  refuse(field, "expected a whole number from " + std::to_string(least) + " to " +
                    std::to_string(most) + ", found " + std::to_string(value));
}

/// The field of one of several entries: "decode_contexts[3]".
std::string entry(const char* field, std::int32_t i) {
  return std::string(field) + "[" + std::to_string(i) + "]";
}

/// Sum and largest of numbers that all have to be from `least` to most_tokens.
std::pair<std::int64_t, std::int32_t> sum_of(const char* field, const std::int32_t* numbers,
                                             std::int32_t count, std::int32_t least) {
  std::int64_t sum = 0;
  std::int32_t smallest = least, largest = least;
  for (std::int32_t i = 0; i < count; ++i) {
    sum += numbers[i];
    smallest = std::min(smallest, numbers[i]);
    largest = std::max(largest, numbers[i]);
  }
  if (smallest < least || largest > most_tokens) {
    for (std::int32_t i = 0; i < count; ++i)
      whole(entry(field, i).c_str(), numbers[i], least, most_tokens);
  }
  return {sum, largest};
}

}  // namespace

void BatchReader::note(std::int64_t number) {
  content_.push_back(static_cast<std::int32_t>(number));
  content_.push_back(static_cast<std::int32_t>(number >> 32));
}

void BatchReader::note(const std::int32_t* numbers, std::int32_t count) {
  content_.insert(content_.end(), numbers, numbers + count);
}

void BatchReader::read_prefills() {
  const auto count = given_.prefill_count;
  if (count > 0 && given_.prefills == nullptr)
    refuse("prefills", "is NULL, and prefill_count is " + std::to_string(count));
  new_tokens_ = 0;
  completing_ = 0;
  note(count);
  for (std::int32_t i = 0; i < count; ++i) {
    const rooflua_prefill& each = given_.prefills[i];
    const bool good = each.new_tokens >= 1 && each.new_tokens <= most_tokens &&
                      each.context_tokens >= 0 && each.context_tokens <= most_tokens &&
                      (each.unfinished == 0 || each.unfinished == 1);
    if (!good) {
      const std::string name = entry("prefills", i);
      whole((name + ".new_tokens").c_str(), each.new_tokens, 1, most_tokens);
      whole((name + ".context_tokens").c_str(), each.context_tokens, 0, most_tokens);
      whole((name + ".unfinished").c_str(), each.unfinished, 0, 1);
    }
    new_tokens_ += each.new_tokens;
    completing_ += 1 - each.unfinished;
    content_.insert(content_.end(), {each.new_tokens, each.context_tokens, each.unfinished});
  }
}

void BatchReader::read_decodes() {
  const std::int32_t n = given_.decodes;
  note(n);
  note(given_.decode_contexts != nullptr ? 1 : 0);
  if (given_.decode_contexts != nullptr) {
    if (given_.decode_context_tokens != 0 || given_.decode_context_max != 0)
      refuse("decode_contexts",
             "says it all; leave out decode_context_tokens and decode_context_max");
    std::tie(context_sum_, context_max_) = sum_of("decode_contexts", given_.decode_contexts, n, 0);
    return note(given_.decode_contexts, n);
  }
  context_sum_ = whole("decode_context_tokens", given_.decode_context_tokens, 0, most_sum);
  context_max_ = whole("decode_context_max", given_.decode_context_max, 0, most_tokens);
  if (n == 0 && (context_sum_ > 0 || context_max_ > 0))
    refuse("decode_context_tokens", "without decodes");
  if (context_sum_ > n * most_tokens)
    refuse("decode_context_tokens", "more than " + std::to_string(most_tokens) + " of each decode");
  if (context_max_ > 0 &&
      (context_sum_ > n * std::int64_t{context_max_} || context_max_ > context_sum_))
    refuse("decode_context_max", std::to_string(n) + " contexts of at most " +
                                     std::to_string(context_max_) + " cannot have " +
                                     std::to_string(context_sum_) +
                                     " tokens, one of them with that many");
  note(context_sum_);
  note(context_max_);
}

void BatchReader::read_rows() {
  const std::int32_t n = given_.decodes;
  note(given_.decode_widths != nullptr ? 1 : 0);
  if (given_.decode_widths != nullptr) {
    if (given_.decode_tokens != 0) refuse("decode_widths", "says it all; leave out decode_tokens");
    row_tokens_ = sum_of("decode_widths", given_.decode_widths, n, 1).first;
    note(given_.decode_widths, n);
  } else {
    row_tokens_ = given_.decode_tokens == 0
                      ? n
                      : whole("decode_tokens", given_.decode_tokens, n, most_in_step);
    if (n == 0 && row_tokens_ > 0) refuse("decode_tokens", "without decodes");
    note(row_tokens_);
  }
  for (const auto& [field, value] : {std::pair{"draft_rows", given_.draft_rows},
                                     {"draft_tokens", given_.draft_tokens},
                                     {"draft_passes", given_.draft_passes}})
    content_.push_back(static_cast<std::int32_t>(whole(field, value, 0, most_in_step)));
  const std::int64_t rows = given_.draft_rows, tokens = given_.draft_tokens,
                     passes = given_.draft_passes;
  if (rows > n + completing_)
    refuse("draft_rows", std::to_string(rows) + " of " + std::to_string(n + completing_) +
                             " requests that get a token");
  if (tokens < rows || passes > tokens || tokens > rows * passes)
    refuse("draft_tokens", std::to_string(rows) + " requests cannot get " + std::to_string(tokens) +
                               " drafts, at most " + std::to_string(passes) +
                               " each and one of them as many");
}

void BatchReader::read_ranks() {
  const std::int64_t tokens = new_tokens_ + row_tokens_;
  whole("tokens of the step", tokens, 1, most_in_step);
  const std::int32_t ranks = given_.ranks;
  const std::int32_t numbers[] = {ranks, given_.ranks_tokens, given_.ranks_max_tokens,
                                  given_.ranks_prefills};
  note(numbers, 4);
  if (ranks == 0) {
    if (given_.ranks_tokens != 0 || given_.ranks_max_tokens != 0 || given_.ranks_prefills != 0)
      refuse("ranks", "is 0, and fields of ranks are not");
    return;
  }
  whole("ranks", ranks, 1, most_requests);
  const std::int64_t all = whole("ranks_tokens", given_.ranks_tokens, tokens, most_in_step);
  const std::int64_t most = whole("ranks_max_tokens", given_.ranks_max_tokens, tokens, all);
  whole("ranks_prefills", given_.ranks_prefills, given_.prefill_count > 0 ? 1 : 0, ranks);
  if (all > ranks * most || all - tokens > (ranks - 1) * most)
    refuse("ranks_tokens", std::to_string(ranks) + " ranks, one of them with " +
                               std::to_string(tokens) + " tokens, cannot have " +
                               std::to_string(all) + ", at most " + std::to_string(most) + " each");
}

std::string_view BatchReader::read(const ::rooflua_batch* given) {
  if (given == nullptr) throw Misuse("batch", "is NULL");
  if (given->size != sizeof(::rooflua_batch))
    throw Misuse("batch: size", "expected sizeof(rooflua_batch), " +
                                    std::to_string(sizeof(::rooflua_batch)) + " bytes, found " +
                                    std::to_string(given->size));
  given_ = *given;
  content_.clear();
  whole("prefill_count", given_.prefill_count, 0, most_requests);
  whole("decodes", given_.decodes, 0, most_requests);
  if (given_.prefill_count + given_.decodes == 0)
    throw Misuse("batch", "nothing to price: it has neither prefills nor decodes");
  read_prefills();
  read_decodes();
  read_rows();
  read_ranks();
  return {reinterpret_cast<const char*>(content_.data()), content_.size() * sizeof(std::int32_t)};
}

double BatchReader::context_max() const {
  if (given_.decode_contexts != nullptr || context_max_ > 0 || given_.decodes == 0)
    return static_cast<double>(context_max_);
  return std::ceil(static_cast<double>(context_sum_) / given_.decodes);
}

/// (query, key) pairs of the decodes, added up in the order of border/batch.lua.
double BatchReader::pairs() const {
  const std::int32_t n = given_.decodes;
  if (n == 0) return 0;
  const double mean = static_cast<double>(row_tokens_) / n;
  if (given_.decode_contexts == nullptr) {
    return mean * static_cast<double>(context_sum_) + n * mean * (mean + 1) / 2;
  }
  double sum = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    const double width = given_.decode_widths != nullptr ? given_.decode_widths[i] : mean;
    sum = sum + width * given_.decode_contexts[i] + width * (width + 1) / 2;
  }
  return sum;
}

const Batch& BatchReader::batch() {
  prefills_.clear();
  for (std::int32_t i = 0; i < given_.prefill_count; ++i) {
    const rooflua_prefill& each = given_.prefills[i];
    const std::int32_t left = each.unfinished == 0 ? 0 : most_tokens;
    prefills_.push_back({each.new_tokens, each.context_tokens, 1 - each.unfinished, -1, -1, left});
  }
  Batch out;
  out.decode_context_tokens = static_cast<double>(context_sum_);
  out.prefills = prefills_.data();
  out.contexts = given_.decode_contexts;
  out.widths = given_.decode_widths;
  out.prefill_count = given_.prefill_count;
  out.decodes = given_.decodes;
  out.decode_tokens = static_cast<std::int32_t>(row_tokens_);
  out.tokens = static_cast<std::int32_t>(new_tokens_ + row_tokens_);
  out.requests = given_.prefill_count + given_.decodes;
  out.sampled = completing_ + given_.decodes;
  out.draft_rows = given_.draft_rows;
  out.draft_tokens = given_.draft_tokens;
  out.draft_passes = given_.draft_passes;
  out.decode_pairs = pairs();
  const bool alone = given_.ranks == 0;
  out.group_ranks = alone ? 1 : given_.ranks;
  out.group_tokens = alone ? out.tokens : given_.ranks_tokens;
  out.group_max_tokens = alone ? out.tokens : given_.ranks_max_tokens;
  out.group_prefills = alone ? (out.prefill_count > 0 ? 1 : 0) : given_.ranks_prefills;
  batch_ = out;
  return batch_;
}

}  // namespace rooflua::library
