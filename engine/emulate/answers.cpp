// The requests of an emulated server that the simulation answers.

#include <event2/event.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/printable.h"
#include "emulate/example.h"
#include "emulate/limits.h"
#include "emulate/server.h"
#include "serve/traces/identity.h"

namespace rooflua::emulate {

namespace {

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

void Server::generate(std::unique_ptr<Exchange>& exchange, Api api) {
  if (static_cast<int>(talks_.size()) >= options_.most_streams || drain_until_s_ >= 0)
    throw Refused(503,
                  drain_until_s_ >= 0 ? "the server stops" : "too many requests are under way");
  Asked asked = read_asked(api, exchange->take_body(), options_.prompts);
  if (asked.model.empty()) asked.model = options_.models.front();
  check_model(asked.model);
  check_context(asked);
  send(exchange, std::move(asked));
}

void Server::check_model(const std::string& name) const {
  const auto& known = options_.models;
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Refused(404,
                  "The model '" + with_short_names(name) + "' does not exist; there is '" +
                      known.front() + "'",
                  "model");
}

/// A limit that the context cannot hold is refused, but cut in /v1/responses. The tokens of text
/// are estimated: a client that counted fewer of them, as far as a quarter, has its answer cut.
/// @source vllm/entrypoints/openai/serving_engine.py _validate_input, protocol.py
/// ResponsesRequest.to_sampling_params
void Server::check_context(const Asked& asked) const {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 4;
  if (asked.prompt.tokens > most) throw Refused(400, "the prompt is too long", "prompt");
  const std::int64_t context = options_.max_model_len, prompt = asked.prompt.tokens;
  const std::int64_t least = asked.tokens.empty() ? prompt - prompt / 4 : prompt;
  if (context > 0 && prompt < context && asked.api != Api::responses &&
      least + asked.max_tokens > context)
    throw Refused(400,
                  "max_tokens is too large: " + std::to_string(asked.max_tokens) +
                      ". This model's maximum context length is " + std::to_string(context) +
                      " tokens and your request has " + std::to_string(prompt) + " input tokens",
                  "max_tokens");
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
  return std::max(std::min(out, limit_of(asked)), 1);
}

/// At which an answer is cut: of the client, or where the context ends.
std::int32_t Server::limit_of(const Asked& asked) const {
  const std::int64_t room = options_.max_model_len - asked.prompt.tokens;
  std::int64_t out = asked.max_tokens > 0 ? asked.max_tokens : limits::answer_tokens;
  if (options_.max_model_len > 0 && room > 0) out = std::min(out, room);
  return static_cast<std::int32_t>(out);
}

void Server::choose_tool(const Asked& asked, std::int32_t number, Answer& answer) const {
  if (asked.tools.empty() || asked.choice == Asked::Choice::none) return;
  const std::uint64_t random = drawn(number);
  if (asked.choice == Asked::Choice::automatic && share_of(random) >= options_.tool_share) return;
  const auto& tools = asked.tools;
  auto tool = std::find_if(tools.begin(), tools.end(),
                           [&](const Tool& each) { return each.name == asked.chosen; });
  if (tool == tools.end())
    tool = tools.begin() + static_cast<std::ptrdiff_t>(spread(random) % tools.size());
  try {
    answer.arguments = dump_json(example_of(tool->schema));
  } catch (const Refused& refused) {
    throw Refused(400, "tool '" + tool->name + "': " + refused.what(), "tools");
  }
  answer.tool = tool->name;
}

/// The conversation that the client names; "" where it names none, or one that a file of requests
/// cannot hold.
std::string Server::session_of(const Exchange& exchange) const {
  for (const std::string& name : options_.session_headers) {
    const std::string out = exchange.header(name);
    if (out.empty() || out == "null" || !is_plain(out)) continue;
    if (out.size() > limits::session_bytes) continue;
    if (sessions_.size() < limits::sessions || sessions_.count(out) > 0) return out;
  }
  return "";
}

void Server::send(std::unique_ptr<Exchange>& exchange, Asked asked) {
  auto talk = std::make_unique<Talk>();
  Answer& answer = talk->answer;
  choose_tool(asked, next_id_, answer);
  note_unread(asked.unread);
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
  ROOFLUA_ASSERT(id == next_id_++);
  if (kv_) kv_->sent(id, asked.tokens, segments);
  if (replica >= 0 && options_.ports_each) pinned_.pin(id, replica);
  if (recording_) recording_->add(arrival_us, spec, session, asked.prompt);
  talk->exchange = std::move(exchange);
  talk->exchange->on_left = [this, id] { leave(id); };
  talk->asked = std::move(asked);
  talk->asked.prompt.blocks = {};
  talk->asked.tokens = {};
  talk->asked.tools = {};
  talk->arrival = picoseconds(spec.arrival_s, "arrival");
  talk->max_tokens = spec.max_output_tokens;
  answer.asked = &talk->asked;
  answer.id = answer_id(talk->asked.api, id);
  answer.created_s = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  answer.model = talk->asked.model;
  answer.prompt_tokens = spec.prompt_tokens;
  answer.length = spec.output_tokens;
  answer.limit = limit_of(talk->asked);
  talks_[id] = std::move(talk);
  look_again();
}

/// For the report: a client may think that they count.
void Server::note_unread(const std::vector<std::string>& names) {
  constexpr std::size_t most = 64;
  for (const std::string& name : names) {
    if (unread_.size() < most || unread_.count(name) > 0) ++unread_[name];
  }
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
  simulated([&] { run_.simulation->look_at_workload(); });
  arm();
}

/// What is thrown here is of this answer alone. @param tokens  0: its end
void Server::write(Talk& talk, std::int32_t tokens) {
  try {
    tokens > 0 ? write_tokens(talk, tokens) : write_end(talk);
  } catch (const std::exception& defect) {
    if (talk.exchange->has_begun() || talk.left) return talk.exchange->drop();
    refuse(*talk.exchange, talk.asked.api, 500, message_of(defect));
  }
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
