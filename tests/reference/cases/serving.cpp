#include "tests/reference/cases/serving.h"

#include <algorithm>
#include <sstream>

namespace rooflua::reference {

std::uint64_t Dice::bits() {
  std::uint64_t x = state_ += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

int Dice::between(int low, int high) {
  const auto span = static_cast<std::uint64_t>(high - low) + 1;
  return low + static_cast<int>(bits() % span);
}

Ps Tariff::operator()(const Rows& rows, const std::vector<Rows>& group) const {
  Ps price = step, most = 0;
  for (const Rows& rank : group) {
    Ps tokens = 0;
    bool prefills = false;
    for (const Row& row : rank) {
      tokens += row.tokens;
      prefills = prefills || row.prefill;
    }
    price += group_token * tokens + (prefills ? group_prefill : 0);
    most = std::max(most, tokens);
  }
  price += group_max_token * most;
  for (const Row& row : rows) {
    price += request + token * row.tokens + (row.samples ? sampled : 0);
    price += row.prefill ? prefill_pair * row.tokens * (2 * row.context + row.tokens)
                         : decode_context * row.context;
    if (row.prefill) continue;
    for (std::size_t i = 0; i < caps.size(); ++i)
      price += bounded[i] * std::min(row.context + 1, caps[i]);
    if (chunk > 0) price += chunked * (row.context % chunk + 1);
  }
  return price;
}

void ServingCase::spell_tokens() {
  for (std::size_t id = 0; id < prompts.size(); ++id) {
    Prompt& prompt = prompts[id];
    const std::uint64_t own = (1ull << 63) | id;
    std::vector<Token>& tokens = prompt.plain.tokens;
    tokens.clear();
    const auto append = [&](std::uint64_t content, int count) {
      for (int k = 0; k < count; ++k) {
        const auto place = static_cast<std::int32_t>(tokens.size());
        tokens.push_back(content == 0 ? Token{own, place} : Token{content, k});
      }
    };
    if (prompt.segments.empty()) append(0, prompt.plain.prompt);
    for (const auto& [content, count] : prompt.segments) append(content, count);
    append(prompt.output_content, prompt.plain.output + 1);
  }
}

std::vector<PlainRequest> ServingCase::requests() const {
  std::vector<PlainRequest> plain;
  for (const Prompt& prompt : prompts) plain.push_back(prompt.plain);
  return plain;
}

bool ServingCase::in_order(const History& history) const {
  return std::all_of(prompts.begin(), prompts.end(), [&](const Prompt& prompt) {
    return prompt.follows < 0 ||
           history.requests[static_cast<std::size_t>(prompt.follows)].last <= prompt.plain.arrival;
  });
}

void ServingCase::part_arrivals() {
  for (std::size_t id = 1; id < prompts.size(); ++id) {
    Ps& arrival = prompts[id].plain.arrival;
    arrival = std::max(arrival, prompts[id - 1].plain.arrival + 1);
  }
}

bool ServingCase::shares() const {
  return std::any_of(prompts.begin(), prompts.end(),
                     [](const Prompt& prompt) { return !prompt.segments.empty(); });
}

// --- the generator

namespace {

void draw_config(Dice& dice, const Range& range, VllmConfig& c) {
  const int seats[] = {1, 2, 4, 8, 32, 300};
  c.max_num_seqs = dice.between(1, seats[dice.between(0, 5)]);
  c.max_num_batched_tokens = dice.between(64, dice.chance(50) ? 256 : 4096);
  c.block_size = dice.chance(60) ? 16 : dice.chance(50) ? 1 : dice.between(2, 32);
  c.async_depth = dice.between(1, 2);
  c.prefix_caching = dice.chance(75);
  c.reserve_full_isl = dice.chance(60);
  if (!range.thresholds) return;
  if (dice.chance(35)) c.long_prefill_token_threshold = dice.between(4, dice.chance(50) ? 30 : 200);
  if (dice.chance(10)) c.chunked_prefill = false;
  if (dice.chance(20)) c.watermark = 0.01 * dice.between(1, 30);
  if (range.priorities) c.by_priority = dice.chance(25);
}

void draw_tariff(Dice& dice, Tariff& tariff) {
  tariff.step = dice.between(1, 5000);
  if (dice.chance(20)) return;  // a constant price: many ties
  tariff.token = dice.between(0, 50);
  tariff.decode_context = dice.between(0, 3);
  tariff.prefill_pair = dice.between(0, 1);
  tariff.request = dice.between(0, 30);
  tariff.sampled = dice.between(0, 30);
}

/// Caps near the contexts that occur, and what their tokens cost.
void draw_bounds(std::uint64_t seed, Tariff& tariff) {
  Dice dice(seed * 2862933555777941757ull + 3);
  if (dice.chance(30)) return;
  for (std::size_t i = 0; i < tariff.caps.size(); ++i) {
    if (dice.chance(70)) tariff.caps[i] = dice.between(1, dice.between(2, 600));
    if (tariff.token > 0) tariff.bounded[i] = dice.between(0, 5);
  }
  if (dice.chance(70)) tariff.chunk = dice.between(1, 200);
  if (tariff.token > 0) tariff.chunked = dice.between(0, 5);
}

void draw_segments(Dice& dice, Prompt& prompt, int longest) {
  int left = prompt.plain.prompt;
  while (left > 0 && dice.chance(75)) {
    const int content = dice.between(1, 3) + 10 * static_cast<int>(prompt.segments.size());
    const int wish = dice.chance(50) ? 16 * dice.between(1, 8) : dice.between(1, longest);
    const int count = std::min(left, wish);
    prompt.segments.emplace_back(static_cast<std::uint64_t>(content), count);
    left -= count;
  }
  if (left > 0) prompt.segments.emplace_back(0, left);
}

/// The next turn of a session: what an earlier request said and heard, and something new.
bool draw_turn(Dice& dice, const std::vector<Prompt>& before, Prompt& prompt, int longest) {
  if (before.empty() || !dice.chance(30)) return false;
  prompt.follows = dice.between(0, static_cast<int>(before.size()) - 1);
  const Prompt& last = before[static_cast<std::size_t>(prompt.follows)];
  if (last.segments.empty() || last.segments.back().first == 0 || last.plain.prompt > 2 * longest) {
    prompt.follows = -1;
    return false;
  }
  prompt.segments = last.segments;
  prompt.segments.emplace_back(last.output_content, last.plain.output);
  prompt.segments.emplace_back(prompt.output_content + 5000, prompt.plain.prompt);
  prompt.plain.prompt += last.plain.prompt + last.plain.output;
  return true;
}

/// What a request holds besides its tokens: a window or a state; in a third of the questions.
void draw_seat_blocks(std::uint64_t seed, VllmConfig& c) {
  Dice dice(seed * 3935559000370003845ull + 7);
  if (!dice.chance(35)) return;
  c.seat_blocks = dice.between(1, dice.chance(50) ? 3 : 25);
  // From just enough for one to enough for many.
  const int most = dice.chance(50) ? 3 : 12;
  c.blocks += c.seat_blocks * dice.between(1, most);
}

/// Limits that are not reached, in most questions: a request with one ends by an end token.
void draw_limits(std::uint64_t seed, const Range& range, ServingCase& question) {
  Dice dice(seed * 6364136223846793005ull + 5);
  if (!dice.chance(70)) return;
  const int most = dice.chance(50) ? 2 : 60, part = dice.between(10, 100);
  int longest = 0, longest_declared = 0;
  for (Prompt& prompt : question.prompts) {
    PlainRequest& plain = prompt.plain;
    if (dice.chance(part)) plain.max_new += dice.between(1, most);
    longest = std::max(longest, plain.prompt + plain.output);
    longest_declared = std::max(longest_declared, plain.prompt + plain.max_new);
  }
  VllmConfig& c = question.config;
  const auto blocks = [&](int tokens) { return (tokens + c.block_size - 1) / c.block_size; };
  // The KV of a last token is never computed, unless it was not known to be the last.
  if (range.thresholds && dice.chance(20)) c.blocks = blocks(longest - 1);
  // Schedulers of other engines reserve what is declared.
  if (!range.thresholds) c.blocks = std::max(c.blocks, blocks(longest_declared));
}

}  // namespace

ServingCase draw_case(std::uint64_t seed, const Range& range) {
  Dice dice(seed);
  ServingCase question;
  question.seed = seed;
  VllmConfig& c = question.config;
  draw_config(dice, range, c);
  draw_tariff(dice, question.tariff);

  const int longest_prompt = dice.chance(50) ? 60 : 400;
  const int longest_output = dice.chance(50) ? 20 : 120;
  const bool shares = range.sharing && dice.chance(50);
  const bool sessions = shares && range.sessions && dice.chance(40);
  const int gap = dice.chance(20) ? 0 : 1 << dice.between(4, 16);
  const int count = dice.between(1, range.most_requests);
  int longest = 0, longest_asked = 0, total = 0;
  Ps now = 0;
  for (int id = 0; id < count; ++id) {
    Prompt prompt;
    PlainRequest& plain = prompt.plain;
    if (gap > 0 && !dice.chance(15)) now += dice.between(1, gap);
    plain.arrival = now;
    plain.prompt = dice.between(1, longest_prompt);
    plain.output = dice.chance(10) ? 1 : dice.between(1, longest_output);
    plain.max_new = plain.output;
    if (c.by_priority) plain.priority = dice.between(0, 3);
    if (shares) {
      prompt.output_content = 1000 + static_cast<std::uint64_t>(id);
      if (!sessions || !draw_turn(dice, question.prompts, prompt, longest_prompt))
        draw_segments(dice, prompt, longest_prompt);
      if (prompt.follows >= 0) plain.arrival = now += dice.between(1, 1 << 19);
    }
    longest_asked = std::max(longest_asked, plain.prompt);
    longest = std::max(longest, plain.prompt + plain.output);
    total += plain.prompt + plain.output;
    question.prompts.push_back(std::move(prompt));
  }
  if (!c.chunked_prefill) c.max_num_batched_tokens = std::max(c.max_num_batched_tokens, longest);
  // From just enough for the longest request to more than enough for all.
  const int least = (longest + c.block_size - 1) / c.block_size;
  const int most = (total + c.block_size - 1) / c.block_size + count;
  c.blocks = dice.chance(70) ? dice.between(least, std::min(most, 4 * least)) : most;
  if (c.watermark > 0 && dice.chance(50)) c.blocks = least + dice.between(0, 2);
  if (dice.chance(15))
    c.max_model_len = dice.between(longest_asked + 1, longest + 1 + longest_prompt);
  if (c.by_priority) question.part_arrivals();
  draw_limits(seed, range, question);
  draw_bounds(seed, question.tariff);
  draw_seat_blocks(seed, c);
  question.spell_tokens();
  return question;
}

std::string text(const ServingCase& question) {
  const VllmConfig& c = question.config;
  const Tariff& t = question.tariff;
  std::ostringstream out;
  out << "seed " << question.seed << ": seats " << c.max_num_seqs << " budget "
      << c.max_num_batched_tokens << " blocks " << c.blocks << " x " << c.block_size
      << " seat_blocks " << c.seat_blocks << " max_model_len " << c.max_model_len << " depth "
      << c.async_depth << " threshold " << c.long_prefill_token_threshold << " watermark "
      << c.watermark << (c.chunked_prefill ? " chunking" : " no chunking")
      << (c.reserve_full_isl ? " full_isl" : " no full_isl")
      << (c.prefix_caching ? " caching" : " no caching") << " content " << c.content_from
      << (c.partial_reuse ? " in parts" : "") << (c.by_priority ? " priority" : "")
      << "\n  tariff " << t.step << " " << t.token << " " << t.decode_context << " "
      << t.prefill_pair << " " << t.request << " " << t.sampled << "; caps";
  for (std::size_t i = 0; i < t.caps.size(); ++i) out << " " << t.caps[i] << " x " << t.bounded[i];
  out << ", chunk " << t.chunk << " x " << t.chunked << "\n";
  if (c.stages.several()) out << "  " << c.stages.batches << " steps in stages";
  for (const double share : c.stages.shares) out << " " << share;
  for (const Ps latency : c.stages.latency) out << ", latency " << latency;
  for (const Ps per_token : c.stages.per_token) out << ", per token " << per_token;
  if (c.stages.several()) out << "\n";
  for (std::size_t id = 0; id < question.prompts.size(); ++id) {
    const Prompt& prompt = question.prompts[id];
    out << "  request " << id << " at " << prompt.plain.arrival << ": " << prompt.plain.prompt
        << " + " << prompt.plain.output << " max " << prompt.plain.max_new << " priority "
        << prompt.plain.priority;
    for (const auto& [content, count] : prompt.segments)
      out << " {" << content << ": " << count << "}";
    out << "\n";
  }
  return out.str();
}

// --- comparison

namespace {

/// The decodes of a step as the engine's observer sees them.
StepLog summed(const StepLog& step) {
  StepLog out{step.planned, step.start, step.end, {}, step.replica};
  Row decodes{-1, 0, 0, false, true};
  for (const Row& row : step.rows) {
    if (row.prefill) {
      out.rows.push_back(row);
    } else {
      decodes.tokens += row.tokens;
      decodes.context += row.context;
    }
  }
  if (decodes.tokens > 0) out.rows.push_back(decodes);
  std::sort(out.rows.begin(), out.rows.end());
  return out;
}

}  // namespace

std::string difference(const History& expected, const History& found) {
  for (std::size_t k = 0; k < std::min(expected.steps.size(), found.steps.size()); ++k) {
    const StepLog a = summed(expected.steps[k]), b = summed(found.steps[k]);
    const bool same_times =
        a.replica == b.replica && a.planned == b.planned && a.start == b.start && a.end == b.end;
    if (same_times && a.rows == b.rows) continue;
    return "step " + std::to_string(k) + "\n    expected " + text(expected.steps[k]) +
           "\n    found    " + text(found.steps[k]);
  }
  if (expected.discarded != found.discarded)
    return "expected " + std::to_string(expected.discarded) + " discarded rows, found " +
           std::to_string(found.discarded);
  if (expected.steps.size() != found.steps.size())
    return "expected " + std::to_string(expected.steps.size()) + " steps, found " +
           std::to_string(found.steps.size());
  for (std::size_t id = 0; id < expected.requests.size(); ++id) {
    if (expected.requests[id] == found.requests[id]) continue;
    return "request " + std::to_string(id) + "\n    expected " + text(expected.requests[id]) +
           "\n    found    " + text(found.requests[id]);
  }
  return "";
}

}  // namespace rooflua::reference
