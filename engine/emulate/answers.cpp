// The requests of an emulated server that the simulation answers.

#include <event2/event.h>

#include <algorithm>
#include <limits>

#include "base/printable.h"
#include "emulate/example.h"
#include "emulate/server.h"
#include "serve/traces/identity.h"

namespace rooflua::emulate {

namespace {

constexpr std::size_t most_sessions = 1'000'000;  // that are told apart
constexpr const char* event_stream = "text/event-stream; charset=utf-8";

std::string sentence_of(Outcome outcome) {
  for (const Word<Outcome>& each : outcome_words) {
    if (each.value == outcome) return std::string(each.name) + ": " + std::string(each.help);
  }
  return "";
}

double share_of(std::uint64_t random) {
  return static_cast<double>(random >> 11) / 9007199254740992.0;  // 2^53
}

}  // namespace

/// Of the seed and the request's number: the same whatever came before.
std::uint64_t Server::drawn(std::int32_t number) const {
  return spread(spread(options_.seed) ^ static_cast<std::uint64_t>(number));
}

void Server::generate(std::unique_ptr<Exchange> exchange, Api api) {
  if (static_cast<int>(talks_.size()) >= options_.most_streams || drain_until_s_ >= 0) {
    ++counts_.refused;
    return refuse(*exchange, api, 503,
                  drain_until_s_ >= 0 ? "the server stops" : "too many requests are under way");
  }
  try {
    Asked asked = read_asked(api, exchange->take_body(), options_.prompts);
    const auto& known = options_.models;
    if (!asked.model.empty() && std::find(known.begin(), known.end(), asked.model) == known.end())
      throw Refused(
          404, "The model '" + asked.model + "' does not exist; there is '" + known.front() + "'",
          "model");
    if (asked.model.empty()) asked.model = known.front();
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 4;
    if (asked.prompt.tokens > most) throw Refused(400, "the prompt is too long", "prompt");
    send(std::move(exchange), std::move(asked));
  } catch (const Refused& refused) {
    ++counts_.refused;
    refuse(*exchange, api, refused.status(), refused.what(), refused.param());
  }
}

/// As many tokens as the client fixes; else the next length of the scenario's workload, within its
/// limits.
std::int32_t Server::length_of(const Asked& asked) {
  std::int32_t out = asked.fixed_length();
  if (out == 0) {
    out = inbox_.next_length();
    if (out == 0) out = options_.default_tokens;
    out = std::max(out, asked.min_tokens);
  }
  if (asked.max_tokens > 0) out = std::min(out, asked.max_tokens);
  const std::int64_t room = options_.max_model_len - asked.prompt.tokens;
  if (options_.max_model_len > 0 && room > 0)
    out = static_cast<std::int32_t>(std::min<std::int64_t>(out, room));
  return std::max(out, 1);
}

void Server::choose_tool(Talk& talk, std::int32_t number) const {
  const Asked& asked = talk.asked;
  if (asked.tools.empty() || asked.choice == Asked::Choice::none) return;
  const std::uint64_t random = drawn(number);
  if (asked.choice == Asked::Choice::automatic && share_of(random) >= options_.tool_share) return;
  const auto& tools = asked.tools;
  auto tool = std::find_if(tools.begin(), tools.end(),
                           [&](const Tool& each) { return each.name == asked.chosen; });
  if (tool == tools.end())
    tool = tools.begin() + static_cast<std::ptrdiff_t>(spread(random) % tools.size());
  talk.answer.tool = tool->name;
  talk.answer.arguments = dump_json(example_of(tool->schema));
}

/// The conversation that the client names; "" where it names none, or one that a file of requests
/// cannot hold.
std::string Server::session_of(const Exchange& exchange) const {
  for (const std::string& name : options_.session_headers) {
    const std::string out = exchange.header(name);
    if (out.empty() || out == "null" || !is_plain(out)) continue;
    if (sessions_.size() < most_sessions || sessions_.count(out) > 0) return out;
  }
  return "";
}

void Server::send(std::unique_ptr<Exchange> exchange, Asked asked) {
  const std::string session = session_of(*exchange);
  const std::int32_t replica = replica_of(*exchange);
  const std::int64_t arrival_us = next_us();
  RequestSpec spec;
  spec.arrival_s = seconds_of_us(arrival_us);
  spec.prompt_tokens = static_cast<std::int32_t>(asked.prompt.tokens);
  spec.output_tokens = length_of(asked);
  spec.max_output_tokens = asked.max_tokens;
  spec.priority = asked.priority;
  if (!session.empty())
    spec.session =
        sessions_.try_emplace(session, static_cast<std::int32_t>(sessions_.size())).first->second;
  std::vector<Segment> segments = segments_of(asked.prompt, options_.prompts);
  const std::int32_t id = inbox_.send(spec, kv_ ? segments : std::move(segments));
  if (kv_) kv_->sent(id, asked.tokens, segments);
  if (replica >= 0 && options_.ports_each) pinned_.pin(id, replica);
  if (recording_) recording_->add(arrival_us, spec, session, asked.prompt);
  auto talk = std::make_unique<Talk>();
  talk->exchange = std::move(exchange);
  talk->exchange->on_left = [this, id] { leave(id); };
  talk->asked = std::move(asked);
  talk->asked.prompt.blocks = {};
  talk->asked.tokens = {};
  talk->arrival = picoseconds(spec.arrival_s, "arrival");
  talk->max_tokens = spec.max_output_tokens;
  Answer& answer = talk->answer;
  answer.asked = &talk->asked;
  answer.id = answer_id(talk->asked.api, id);
  answer.created_s = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  answer.model = talk->asked.model;
  answer.prompt_tokens = spec.prompt_tokens;
  answer.length = spec.output_tokens;
  choose_tool(*talk, id);
  talks_[id] = std::move(talk);
  run_.simulation->look_at_workload();
  arm();
}

/// The client has gone: its request is cancelled, as an engine cancels it that sees this.
void Server::leave(std::int32_t id) {
  const auto found = talks_.find(id);
  if (found == talks_.end() || found->second->left) return;
  found->second->left = true;
  ++counts_.left;
  if (found->second->ended) return;
  const std::int64_t time_us = next_us();
  inbox_.leave(id, picoseconds(seconds_of_us(time_us), "leaves"));
  if (recording_) recording_->leave(id, time_us);
  guarded(&Server::look_again);
}

void Server::look_again() {
  run_.simulation->look_at_workload();
  arm();
}

void Server::write_tokens(Talk& talk, std::int32_t tokens) {
  Answer& answer = talk.answer;
  if (talk.left || !talk.asked.streamed) {
    answer.written += tokens;
    return;
  }
  const Face& face = face_of(talk.asked.api);
  std::string out;
  if (!talk.exchange->has_begun()) {
    Headers headers{{"Cache-Control", "no-cache"}};
    if (lag_.is_late()) headers.emplace_back("X-Rooflua-Late", "1");
    talk.exchange->begin(event_stream, headers);
    out = face.opening(answer);
  }
  const bool last =
      talk.ended && talk.outcome == Outcome::completed && answer.written + tokens >= answer.length;
  out += face.tokens(answer, tokens, last);
  answer.written += tokens;
  talk.exchange->write(out);
}

/// Of HTTP, for a request without a token. A port whose replica is not ready is a server that is
/// not there.
int Server::status_of(const Talk& talk) const {
  const std::int32_t replica = replica_of(*talk.exchange);
  if (replica >= 0 && run_.simulation->lifecycle(replica) != Lifecycle::ready) return 503;
  const auto found = options_.statuses.find(std::string(name(talk.outcome)));
  return found == options_.statuses.end() ? 500 : found->second;
}

void Server::write_end(Talk& talk) {
  if (talk.left) return;
  const Face& face = face_of(talk.asked.api);
  Answer& answer = talk.answer;
  if (talk.outcome != Outcome::completed) {
    ++(talk.exchange->has_begun() ? counts_.dropped : counts_.refused);
    if (talk.exchange->has_begun()) return talk.exchange->drop();
    return refuse(*talk.exchange, talk.asked.api, status_of(talk), sentence_of(talk.outcome));
  }
  if (!talk.asked.streamed)
    return talk.exchange->answer(200, dump_json(face.whole(answer)), "application/json",
                                 lag_.is_late() ? Headers{{"X-Rooflua-Late", "1"}} : Headers{});
  if (answer.written < answer.length) write_tokens(talk, answer.length - answer.written);
  talk.exchange->write(face.ending(answer));
  talk.exchange->end();
}

}  // namespace rooflua::emulate
