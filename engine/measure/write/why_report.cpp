// The second half of why.h: as text and as a document.

#include <algorithm>

#include "measure/record/why.h"
#include "measure/write/evidence_text.h"
#include "measure/write/latency_text.h"
#include "measure/write/report.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

constexpr std::array<std::string_view, latency_heading_count> names = {"frontend",
                                                                       "queue, replica idle",
                                                                       "queue behind prefill",
                                                                       "queue behind decode",
                                                                       "prefill",
                                                                       "prefill stalled",
                                                                       "decode",
                                                                       "decode beside prefill",
                                                                       "decode stalled",
                                                                       "preempted",
                                                                       "recompute",
                                                                       "KV transfer",
                                                                       "queue behind other ranks",
                                                                       "KV load",
                                                                       "held in front"};

constexpr std::array<const char*, latency_heading_count> keys = {
    "frontend_s",        "queue_idle_s", "queue_prefill_s", "queue_decode_s",   "prefill_s",
    "prefill_stalled_s", "decode_s",     "decode_mixed_s",  "decode_stalled_s", "preempted_s",
    "recompute_s",       "transfer_s",   "queue_ranks_s",   "load_s",           "held_s"};

constexpr std::array<std::string_view, wait_reason_count> held_names = {
    "the step was planned before it came",
    "no free seat",
    "the token budget was spent",
    "the step took seats away",
    "no room in the KV cache",
    "others came first",
    "the scheduler's own rule"};

constexpr std::array<const char*, wait_reason_count> held_keys = {
    "pipeline_s", "seats_s", "budget_s", "preempting_s", "cache_s", "order_s", "choice_s"};

Picoseconds total(const Why& why) {
  Picoseconds sum = 0;
  for (const Picoseconds part : why.time) sum += part;
  return sum;
}

}  // namespace

std::string_view name(LatencyHeading heading) {
  return names[static_cast<std::size_t>(heading)];
}

const char* key(LatencyHeading heading) {
  return keys[static_cast<std::size_t>(heading)];
}

std::string_view name(WaitReason reason) {
  return held_names[static_cast<std::size_t>(reason)];
}

namespace {

double share_of(Picoseconds part, Picoseconds whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// A row per operation and evidence: prefill, decode, share of all decoding.
std::string operations(const Why& why) {
  struct Row {
    Picoseconds prefill = 0, decode = 0;
  };
  std::map<std::pair<std::string, Evidence>, Row> rows;
  Picoseconds decode = 0;
  for (const auto& [op, time] : why.ops) {
    const auto& [heading, operation, evidence] = op;
    Row& row = rows[{operation, evidence}];
    const bool decodes =
        heading == LatencyHeading::decode || heading == LatencyHeading::decode_mixed;
    (decodes ? row.decode : row.prefill) += time;
    if (decodes) decode += time;
  }
  std::vector<std::pair<std::pair<std::string, Evidence>, Row>> sorted(rows.begin(), rows.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.prefill + a.second.decode > b.second.prefill + b.second.decode;
  });
  Table table;
  table.left(1);
  table.add({"operation", "evidence", "prefill", "decode", "of decode"});
  for (const auto& [op, row] : sorted) {
    table.add({op.first, std::string(name(op.second)),
               row.prefill != 0 ? duration(seconds(row.prefill)) : "",
               row.decode != 0 ? duration(seconds(row.decode)) : "",
               row.decode != 0 ? percent(share_of(row.decode, decode)) : ""});
  }
  return table.text(2);
}

/// "waited: no free seat 45.6 ms. Behind request 3 (12.1 ms), ... and 12 others (33.5 ms)"
std::string waiting(const Why& why) {
  std::string reasons;
  for (std::size_t i = 0; i < wait_reason_count; ++i) {
    if (why.held[i] == 0) continue;
    reasons += (reasons.empty() ? "" : ", ") + std::string(held_names[i]) + " " +
               duration(seconds(why.held[i]));
  }
  std::vector<std::pair<std::int32_t, Picoseconds>> holders(why.behind.begin(), why.behind.end());
  std::stable_sort(holders.begin(), holders.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr std::size_t most = 5;
  std::string behind;
  Picoseconds rest = 0;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    if (i >= most) {
      rest += holders[i].second;
      continue;
    }
    const auto& [id, time] = holders[i];
    behind += (behind.empty() ? "" : ", ") +
              (id == Why::anybody ? "decodes" : "request " + std::to_string(id)) + " " +
              duration(seconds(time));
  }
  if (rest > 0)
    behind += ", " + grouped(static_cast<std::int64_t>(holders.size() - most)) + " others " +
              duration(seconds(rest));
  return "waited: " + reasons + "\nbehind: " + behind + "\n";
}

/// "attempt 2 of the question that request 7 began, with 31 tokens of earlier attempts; ..."
std::string attempts(const RequestDone& done) {
  if (done.attempt == 0 && !done.is_retried) return "";
  std::string out = "\nattempt " + std::to_string(done.attempt + 1);
  if (done.attempt > 0)
    out += " of the question that request " + std::to_string(done.origin) + " began";
  if (done.carried_tokens > 0)
    out += ", with " + grouped(done.carried_tokens) + " tokens of earlier attempts in its prompt";
  if (done.is_retried) out += "; its client sends it again";
  if (done.is_retried && done.keeps_output) out += " and goes on with its tokens";
  return out;
}

}  // namespace

std::string report(const Why& why, const LatencyPartsCounter::Ended* parts) {
  const Picoseconds whole = total(why);
  const RequestDone& done = why.done;
  std::string out = "request " + std::to_string(done.id) + "  " + grouped(done.prompt_tokens) +
                    " tokens in, " + grouped(done.output_tokens) + " out, " +
                    std::string(name(done.outcome));
  if (done.first_token != never)
    out += ", TTFT " + duration(seconds(done.first_token - done.arrival));
  if (done.cached_tokens > 0) out += ", " + grouped(done.cached_tokens) + " cached";
  out += attempts(done) + "\n\n";
  Table table;
  for (std::size_t i = 0; i < latency_heading_count; ++i) {
    if (why.time[i] == 0) continue;
    const double share = static_cast<double>(why.time[i]) / static_cast<double>(whole);
    table.add({std::string(names[i]), duration(seconds(why.time[i])), percent(share),
               why.steps[i] > 0 ? grouped(why.steps[i]) + " steps" : ""});
  }
  table.rule();
  table.add({"end to end", duration(seconds(whole)), "100.0 %"});
  out += table.text(2) + "\n";
  if (parts != nullptr) {
    out += "TTFT is " + parts_shares(in_seconds(parts->to_first)) + "\nE2E is  " +
           parts_shares(in_seconds(parts->all)) + "\n\n";
  }
  if (done.rounds > 0) {
    const std::int32_t tokens = done.output_tokens - 1;
    out += "after the first token: " + grouped(tokens) + " tokens in " + grouped(done.rounds) +
           " rounds, " + figure(static_cast<double>(tokens) / done.rounds) + " per round; " +
           grouped(done.accepted_tokens) + " of " + grouped(done.drafted_tokens) +
           " drafts accepted\n\n";
  }
  if (!why.behind.empty()) out += waiting(why) + "\n";
  if (!why.ops.empty()) out += operations(why) + "\n";
  out += "its own steps rest on " + evidence_line(why.evidence.shares()) + "\n";
  double sum_s = 0;
  for (const double part : why.bound_s) sum_s += part;
  if (sum_s <= 0 || why.bound_s[0] == sum_s) return out;
  std::string bounds;
  for (std::size_t i = 0; i < why.bound_s.size(); ++i) {
    if (why.bound_s[i] <= 0) continue;
    bounds += (bounds.empty() ? "" : ", ") + std::string(bound_words[i].name) + " " +
             percent(why.bound_s[i] / sum_s);
  }
  return out + "and are bound by " + bounds + "\n";
}

namespace {

/// [{phase, op, evidence, time_s, share of the request's whole time}]
Json ops_json(const Why& why) {
  const Picoseconds whole = total(why);
  Json out = Json::array();
  for (const auto& [op, time] : why.ops) {
    const std::string_view key = keys[static_cast<std::size_t>(std::get<0>(op))];
    Json row = Json::object();
    row["phase"] = key.substr(0, key.size() - 2);
    row["op"] = std::get<1>(op);
    row["evidence"] = name(std::get<2>(op));
    row["time_s"] = seconds(time);
    row["share"] = share_of(time, whole);
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace

Json to_json(const Why& why, const LatencyPartsCounter::Ended* parts) {
  Json out = Json::object();
  out["request"] = why.done.id;
  out["outcome"] = name(why.done.outcome);
  if (why.done.attempt > 0 || why.done.is_retried) {
    out["attempt"] = why.done.attempt;
    out["origin"] = why.done.attempt > 0 ? why.done.origin : why.done.id;
    out["retried"] = why.done.is_retried;
  }
  out["e2e_s"] = seconds(total(why));
  for (std::size_t i = 0; i < latency_heading_count; ++i) {
    if (why.time[i] > 0 || !is_rare(static_cast<LatencyHeading>(i)))
      out[keys[i]] = seconds(why.time[i]);
  }
  if (parts != nullptr) {
    out["ttft_parts_s"] = parts_json(in_seconds(parts->to_first));
    out["e2e_parts_s"] = parts_json(in_seconds(parts->all));
  }
  out["steps"] = Json::object();
  for (std::size_t i = 0; i < latency_heading_count; ++i) {
    const std::string_view key = keys[i];
    if (why.steps[i] > 0) out["steps"][key.substr(0, key.size() - 2)] = why.steps[i];
  }
  out["preemptions"] = why.lost_seats;
  if (!why.ops.empty()) out["ops"] = ops_json(why);
  if (!why.behind.empty()) {
    out["waited"] = Json::object();
    for (std::size_t i = 0; i < wait_reason_count; ++i) {
      if (why.held[i] != 0) out["waited"][held_keys[i]] = seconds(why.held[i]);
    }
    out["behind"] = Json::array();
    for (const auto& [id, time] : why.behind) {
      Json row = Json::object();
      row["request"] = id == Why::anybody ? Json() : Json(id);
      row["time_s"] = seconds(time);
      out["behind"].push_back(std::move(row));
    }
  }
  out["evidence"] = evidence_json(why.evidence.shares());
  out["bound_s"] = Json::object();
  for (std::size_t i = 0; i < why.bound_s.size(); ++i) {
    if (why.bound_s[i] > 0) out["bound_s"][bound_words[i].name] = why.bound_s[i];
  }
  return out;
}

}  // namespace rooflua
