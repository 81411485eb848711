#include "emulate/recording.h"

#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "serve/contract/words.h"

namespace rooflua::emulate {

std::string text_of_us(std::int64_t us) {
  char out[40];
  std::snprintf(out, sizeof out, "%lld.%06lld", static_cast<long long>(us / 1'000'000),
                static_cast<long long>(us % 1'000'000));
  return out;
}

Recording::Recording(const std::string& path) : path_(path), file_(path, std::ios::binary) {
  if (!file_) throw Error(path, "cannot be written");
}

void Recording::add(std::int64_t arrival_us, const RequestSpec& spec, const std::string& session,
                    const Prompt& prompt) {
  std::string text = "{\"arrival_s\":" + text_of_us(arrival_us) +
                     ",\"prompt_tokens\":" + std::to_string(spec.prompt_tokens) +
                     ",\"output_tokens\":" + std::to_string(spec.output_tokens) +
                     ",\"max_output_tokens\":" + std::to_string(spec.max_output_tokens) +
                     ",\"priority\":" + std::to_string(spec.priority);
  if (!session.empty()) {
    text += ",\"session\":";
    append_json_text(session, text);
  }
  text += ",\"hash_ids\":[";
  for (std::size_t i = 0; i < prompt.blocks.size(); ++i)
    text += (i > 0 ? "," : "") + std::to_string(prompt.blocks[i]);
  lines_.push_back({text + "]"});
}

void Recording::leave(std::int32_t number, std::int64_t time_us) {
  if (number < first_) return;
  Line& own = line(number);
  if (own.ended || std::exchange(own.left, true)) return;
  own.text += ",\"cancelled_s\":" + text_of_us(time_us);
}

void Recording::end(const RequestDone& done) {
  Line& own = line(done.id);
  own.ended = true;
  own.text += ",\"outcome\":\"" + std::string(name(done.outcome)) +
              "\",\"landed_tokens\":" + std::to_string(done.output_tokens);
  if (done.first_token != never)
    own.text += ",\"first_token_at_s\":" + json_number(seconds(done.first_token));
  own.text += ",\"ended_at_s\":" + json_number(seconds(done.now)) + "}";
  write_ended();
}

void Recording::write_ended() {
  for (; !lines_.empty() && lines_.front().ended; ++first_) {
    file_ << lines_.front().text << "\n";
    lines_.pop_front();
  }
}

void Recording::finish() {
  for (Line& each : lines_) {
    if (!each.ended) each.text += "}";
    each.ended = true;
  }
  write_ended();
  file_.close();
  if (!file_) throw Error(path_, "could not be written");
}

}  // namespace rooflua::emulate
