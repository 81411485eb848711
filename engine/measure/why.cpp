#include "measure/why.h"

#include <algorithm>

#include "measure/report.h"
#include "measure/table.h"

namespace rooflua {

namespace {

constexpr std::array<std::string_view, whereabouts_count> names = {"frontend",
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
                                                                   "KV transfer"};

constexpr std::array<const char*, whereabouts_count> keys = {
    "frontend_s",       "queue_idle_s",      "queue_prefill_s", "queue_decode_s",
    "prefill_s",        "prefill_stalled_s", "decode_s",        "decode_mixed_s",
    "decode_stalled_s", "preempted_s",       "recompute_s",     "transfer_s"};

constexpr std::array<const char*, 4> bounds = {"unknown", "compute", "memory", "link"};

bool worked(Whereabouts w) {
  return w == Whereabouts::prefill || w == Whereabouts::recompute || w == Whereabouts::decode ||
         w == Whereabouts::decode_mixed;
}

Picoseconds total(const Why& why) {
  Picoseconds sum = 0;
  for (const Picoseconds part : why.time) sum += part;
  return sum;
}

}  // namespace

std::string_view name(Whereabouts whereabouts) {
  return names[static_cast<std::size_t>(whereabouts)];
}

void WhyObserver::pass(Whereabouts whereabouts, Picoseconds until) {
  if (until <= since_) return;
  why_.time[static_cast<std::size_t>(whereabouts)] += until - since_;
  since_ = until;
}

void WhyObserver::on_arrival(const Request& request, Picoseconds now) {
  if (request.id == request_) since_ = now;
}

void WhyObserver::on_queued(const Request& request, Picoseconds now) {
  if (request.id != request_) return;
  pass(Whereabouts::frontend, now);
  replica_ = request.replica;
  phase_ = Phase::waiting;
}

void WhyObserver::on_preempt(const Request& request, Picoseconds) {
  if (request.id != request_) return;
  phase_ = Phase::preempted;
}

Whereabouts WhyObserver::during(const StepSeen& step) const {
  for (const PrefillWork& prefill : step.prefills) {
    if (prefill.id != request_) continue;
    return prefill.context_tokens < reached_ ? Whereabouts::recompute : Whereabouts::prefill;
  }
  switch (phase_) {
    case Phase::preempted:
      return Whereabouts::preempted;
    case Phase::seated:
      return Whereabouts::prefill_stalled;
    case Phase::decoding: {
      const bool skipped =
          step.batch->decodes == 0 ||
          std::find(step.skipped.begin(), step.skipped.end(), request_) != step.skipped.end();
      if (skipped) return Whereabouts::decode_stalled;
      return step.prefills.empty() ? Whereabouts::decode : Whereabouts::decode_mixed;
    }
    case Phase::waiting:
    case Phase::away:
      break;
  }
  return step.prefills.empty() ? Whereabouts::queue_decode : Whereabouts::queue_prefill;
}

void WhyObserver::on_step(const StepSeen& step) {
  if (step.replica != replica_ || phase_ == Phase::away || step.end <= since_) return;
  pass(phase_ == Phase::preempted ? Whereabouts::preempted : Whereabouts::queue_idle, step.start);
  const Whereabouts whereabouts = during(step);
  ++why_.steps[static_cast<std::size_t>(whereabouts)];
  const double part_s = seconds(step.end - since_);
  pass(whereabouts, step.end);
  for (const PrefillWork& prefill : step.prefills) {
    if (prefill.id != request_) continue;
    phase_ = prefill.completes != 0 ? Phase::decoding : Phase::seated;
    reached_ = std::max(reached_, prefill.context_tokens + prefill.new_tokens);
  }
  if (!worked(whereabouts)) return;
  if (whereabouts == Whereabouts::decode || whereabouts == Whereabouts::decode_mixed) ++reached_;
  const StepPrice& price = *step.price;
  const auto bound = static_cast<std::size_t>(price.bound);
  why_.bound_s[bound < bounds.size() ? bound : 0] += part_s;
  for (int i = 0; i < evidence_count && price.time_s > 0; ++i) {
    why_.evidence.seconds[i] += price.evidence_s[i] * (part_s / price.time_s);
  }
}

void WhyObserver::on_transfer(const TransferSeen& transfer) {
  if (transfer.id != request_) return;
  pass(Whereabouts::queue_idle, transfer.start);
  pass(Whereabouts::transfer, transfer.end);
  replica_ = transfer.to;
  phase_ = Phase::waiting;
}

void WhyObserver::on_done(const RequestDone& done) {
  if (done.id != request_) return;
  pass(Whereabouts::frontend, done.last_token == never ? done.now : done.last_token);
  phase_ = Phase::away;
  why_.done = done;
  answer_ = why_;
}

std::string report(const Why& why) {
  const Picoseconds whole = total(why);
  const RequestDone& done = why.done;
  std::string out = "request " + std::to_string(done.id) + "  " + grouped(done.prompt_tokens) +
                    " tokens in, " + grouped(done.output_tokens) + " out, " +
                    std::string(name(done.outcome));
  if (done.first_token != never)
    out += ", TTFT " + duration(seconds(done.first_token - done.arrival));
  if (done.cached_tokens > 0) out += ", " + grouped(done.cached_tokens) + " cached";
  out += "\n\n";
  Table table;
  for (std::size_t i = 0; i < whereabouts_count; ++i) {
    if (why.time[i] == 0) continue;
    const double share = static_cast<double>(why.time[i]) / static_cast<double>(whole);
    table.add({std::string(names[i]), duration(seconds(why.time[i])), percent(share),
               why.steps[i] > 0 ? grouped(why.steps[i]) + " steps" : ""});
  }
  table.rule();
  table.add({"end to end", duration(seconds(whole)), "100.0 %"});
  out += table.text(2) + "\nits own steps rest on " + evidence_line(why.evidence.shares()) + "\n";
  double sum_s = 0;
  for (const double part : why.bound_s) sum_s += part;
  if (sum_s <= 0 || why.bound_s[0] == sum_s) return out;
  std::string parts;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (why.bound_s[i] <= 0) continue;
    parts += (parts.empty() ? "" : ", ") + std::string(bounds[i]) + " " +
             percent(why.bound_s[i] / sum_s);
  }
  return out + "and are bound by " + parts + "\n";
}

Json to_json(const Why& why) {
  Json out = Json::object();
  out["request"] = why.done.id;
  out["outcome"] = name(why.done.outcome);
  out["e2e_s"] = seconds(total(why));
  for (std::size_t i = 0; i < whereabouts_count; ++i) out[keys[i]] = seconds(why.time[i]);
  out["steps"] = Json::object();
  for (std::size_t i = 0; i < whereabouts_count; ++i) {
    const std::string_view key = keys[i];
    if (why.steps[i] > 0) out["steps"][key.substr(0, key.size() - 2)] = why.steps[i];
  }
  out["evidence"] = Json::object();
  const auto shares = why.evidence.shares();
  for (int i = 0; i < evidence_count; ++i) {
    const double share = shares[static_cast<std::size_t>(i)];
    if (share > 0) out["evidence"][name(static_cast<Evidence>(i))] = share;
  }
  out["bound_s"] = Json::object();
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (why.bound_s[i] > 0) out["bound_s"][bounds[i]] = why.bound_s[i];
  }
  return out;
}

}  // namespace rooflua
