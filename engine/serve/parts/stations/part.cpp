#include <algorithm>
#include <memory>

#include "base/error.h"
#include "serve/parts/stations/frontend.h"
#include "serve/parts/list.h"

namespace rooflua {

FrontendPart::FrontendPart(Core& core, Loop& loop) : core_(core), loop_(loop) {
  const Frontend& given = core.config.frontend;
  request_ = picoseconds(given.server_request_s, "frontend.server_request_s");
  prompt_token_ = picoseconds(given.server_prompt_token_s, "frontend.server_prompt_token_s");
  chunk_ = picoseconds(given.server_chunk_s, "frontend.server_chunk_s");
  client_request_ = picoseconds(given.client_request_s, "frontend.client_request_s");
  client_chunk_ = picoseconds(given.client_chunk_s, "frontend.client_chunk_s");
  interval_ = given.stream_interval;
  turns_ = given.server_turns;
  has_egress_ = given.egress_servers > 0;
  const Servers own{Station(given.servers), Station(std::max(1, given.egress_servers))};
  servers_.assign(core.groups.size(), own);
}

std::unique_ptr<Part> FrontendPart::copy(Core& core, Loop& loop) const {
  auto out = std::make_unique<FrontendPart>(core, loop);
  out->servers_ = servers_;
  out->sends_ = sends_;
  out->reads_ = reads_;
  out->due_ = due_;
  out->came_ = came_;
  out->seen_ = seen_;
  out->totals_ = totals_;
  return out;
}

FrontendPart::Seen& FrontendPart::seen(std::int32_t slot) {
  const auto place = static_cast<std::size_t>(slot);
  if (place >= seen_.size()) seen_.resize(place + 1);
  if (seen_[place].id != core_.requests[slot].id) seen_[place] = {.id = core_.requests[slot].id};
  return seen_[place];
}

void FrontendPart::note(Picoseconds came, Picoseconds served) {
  totals_.first = std::min(totals_.first, came);
  totals_.last = std::max(totals_.last, served);
}

// --- a request comes

/// The clients' process sends it.
bool FrontendPart::takes(std::int32_t slot) {
  Seen& own = seen(slot);
  if (client_request_ == 0 || own.is_out) return false;
  own.is_out = true;
  const Picoseconds out = sends_.serve(core_.now, client_request_);
  note(core_.now, out);
  core_.post({.time = out, .kind = Delivery::Kind::through_frontend, .slot = slot});
  return true;
}

/// A server of the engine renders and tokenises it.
bool FrontendPart::reaches(std::int32_t slot, std::int32_t replica) {
  const Request& request = core_.requests[slot];
  const Picoseconds service = request_ + prompt_token_ * request.prompt_tokens;
  if (service == 0) return false;  // servers that only stream
  Station& ingress = of(replica).ingress;
  const std::size_t server = ingress.next();
  const Picoseconds until = ingress.serve(core_.now, service, server);
  totals_.waited += until - core_.now - service;
  totals_.ingress += service;
  ++totals_.requests;
  note(core_.now, until);
  core_.requests[slot].replica = replica;
  due_.emplace(std::pair(until, came_++), Due{slot, turns_ - 1, server});
  loop_.due_changed();
  return true;
}

/// It goes on behind all that came to its server meanwhile.
void FrontendPart::turn_again(std::int32_t slot, std::size_t server, std::int32_t turns) {
  const Picoseconds until = of(core_.requests[slot].replica).ingress.serve(core_.now, 0, server);
  totals_.waited += until - core_.now;
  note(core_.now, until);
  due_.emplace(std::pair(until, came_++), Due{slot, turns, server});
}

void FrontendPart::pass(Moment moment) {
  if (moment != Moment::late) return;
  while (!due_.empty() && due_.begin()->first.first <= core_.now) {
    const auto [slot, turns, server] = due_.begin()->second;
    due_.erase(due_.begin());
    if (turns > 0)
      turn_again(slot, server, turns - 1);
    else
      loop_.join(slot, core_.requests[slot].replica);
  }
  loop_.due_changed();
}

void FrontendPart::aborting(std::int32_t slot) {
  if (core_.progress(slot).queued != never) return;
  std::erase_if(due_, [slot](const auto& each) { return each.second.slot == slot; });
  loop_.due_changed();
}

// --- tokens go

/// How many chunks carry the tokens of a step, `urgent` of which are first or last ones.
std::int64_t FrontendPart::chunks_of(Servers& servers, std::int64_t tokens, std::int64_t urgent) {
  urgent = std::min(urgent, tokens);
  servers.held_tokens += tokens - urgent;
  const std::int64_t others = servers.held_tokens / interval_;
  servers.held_tokens -= others * interval_;
  return urgent + others;
}

/// Through the servers and the clients' process, each of them when it is free.
void FrontendPart::send_chunks(Servers& servers, Picoseconds now, std::int64_t chunks) {
  arrivals_.clear();
  Station& egress = egress_of(servers);
  for (std::int64_t i = 0; i < chunks; ++i) {
    const Picoseconds sent = chunk_ > 0 ? egress.serve(now, chunk_) : now;
    arrivals_.push_back(client_chunk_ > 0 ? reads_.serve(sent, client_chunk_) : sent);
  }
  totals_.chunks += chunks;
  totals_.egress += chunks * chunk_;
  if (arrivals_.empty()) return;
  note(now, arrivals_.back());
  totals_.late += arrivals_.back() - now;
  ++totals_.steps;
}

void FrontendPart::landed(const StepDone& done) {
  next_end_ = 0;
  arrivals_.clear();
  if (done.empty() || core_.at(done.replica).config().role == Role::prefill) return;
  const std::int64_t requests = done.batch->sampled - done.discarded;
  std::int64_t firsts = 0;
  const auto is_first = [&](const PrefillWork& work) {
    return work.completes != 0 && core_.progress(work.slot).first_token == core_.now;
  };
  for (const PrefillWork& work : done.prefills) firsts += is_first(work);
  Servers& servers = of(done.replica);
  const auto urgent = firsts + static_cast<std::int64_t>(done.finished.size());
  send_chunks(servers, core_.now, chunks_of(servers, requests, urgent));
  auto first = arrivals_.size() - static_cast<std::size_t>(firsts);
  for (const PrefillWork& work : done.prefills)
    if (is_first(work)) core_.see_first(work.slot, arrivals_[first++]);
}

bool FrontendPart::completed(std::int32_t slot, std::int32_t) {
  if (next_end_ < arrivals_.size()) seen(slot).last = arrivals_[next_end_++];
  return false;
}

void FrontendPart::took(std::int32_t replica, Picoseconds end, std::int64_t tokens) {
  Servers& servers = of(replica);
  send_chunks(servers, end, chunks_of(servers, tokens, 0));
}

/// When the client has seen it.
void FrontendPart::fills(std::int32_t slot, RequestDone& done) const {
  if (done.first_token == never) return;
  const auto place = static_cast<std::size_t>(slot);
  const bool is_known = place < seen_.size() && seen_[place].id == done.id;
  if (is_known && seen_[place].last != never)
    done.last_token = seen_[place].last + core_.frontend_token;
  done.last_token = std::max(done.last_token, done.first_token);
  done.now = std::max(done.now, done.last_token);
}

// --- what is asked when the run is over

FrontendPart::Totals FrontendPart::totals() const {
  Totals out = totals_;
  const auto share = [](const Station& station) { return station.busy() / station.servers(); };
  for (const Servers& each : servers_) {
    out.busiest = std::max(out.busiest, share(each.ingress));
    out.busiest_egress = std::max(out.busiest_egress, share(each.egress));
  }
  out.client_sends = sends_.busy();
  out.client_reads = reads_.busy();
  return out;
}

const FrontendPart* frontend_of(const Parts& parts) {
  for (const auto& part : parts.all)
    if (const auto* own = dynamic_cast<const FrontendPart*>(part.get())) return own;
  return nullptr;
}

std::unique_ptr<Part> make_stations(Core& core, Loop& loop) {
  return std::make_unique<FrontendPart>(core, loop);
}

}  // namespace rooflua
