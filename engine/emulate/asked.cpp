#include "emulate/asked.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "base/error.h"
#include "base/printable.h"
#include "emulate/bodies.h"
#include "emulate/limits.h"

namespace rooflua::emulate {

namespace {

constexpr double most_tokens = 1e8;  // of a prompt or an answer

const Json* given(const Json& body, std::string_view key) {
  const Json* found = body.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

bool flag(const Json& body, const char* key) {
  const Json* found = given(body, key);
  if (found == nullptr) return false;
  if (!found->is_boolean()) throw Refused(400, std::string(key) + ": expected true or false", key);
  return found->boolean();
}

/// The first of these keys that is given, as a whole number; `absent` where none is.
std::int32_t whole(const Json& body, std::initializer_list<const char*> keys, double least,
                   std::int32_t absent) {
  for (const char* key : keys) {
    const Json* found = given(body, key);
    if (found == nullptr) continue;
    const double value = found->is_number() ? found->number() : std::nan("");
    if (!(value >= least && value <= most_tokens) || value != std::floor(value)) {
      throw Refused(400,
                    std::string(key) + ": expected a whole number from " + json_number(least) +
                        " to " + json_number(most_tokens),
                    key);
    }
    return static_cast<std::int32_t>(value);
  }
  return absent;
}

std::string text(const Json& body, const char* key) {
  const Json* found = given(body, key);
  if (found == nullptr) return "";
  if (!found->is_text()) throw Refused(400, std::string(key) + ": expected a text", key);
  return found->text();
}

/// What would change the answer in a way that is not emulated.
void refuse_others(const Json& body) {
  for (const char* key : {"n", "best_of"}) {
    if (whole(body, {key}, 1, 1) != 1)
      throw Refused(400, std::string(key) + ": only 1 answer per request is emulated", key);
  }
  const auto asks = [](const Json* found) {
    return found != nullptr && !(found->is_boolean() && !found->boolean());
  };
  for (const char* key : {"logprobs", "prompt_logprobs"}) {
    if (asks(given(body, key)))
      throw Refused(400, std::string(key) + ": log probabilities are not emulated", key);
  }
  for (const char* key : {"echo", "use_beam_search", "background"}) {
    if (flag(body, key)) throw Refused(400, std::string(key) + " is not emulated", key);
  }
  for (const char* key : {"suffix", "prompt_embeds", "truncate_prompt_tokens"}) {
    if (given(body, key) != nullptr) throw Refused(400, std::string(key) + " is not emulated", key);
  }
  for (const char* key : {"previous_response_id", "conversation"}) {
    if (given(body, key) != nullptr)
      throw Refused(404, std::string(key) + ": no response is kept here", key);
  }
}

/// Numbers that change nothing here, in the ranges that engines take.
/// @source vllm/sampling_params.py SamplingParams._verify_args
void check_ranges(const Json& body) {
  struct Range {
    const char* key;
    double least, most;
  };
  constexpr double any = std::numeric_limits<double>::max();
  constexpr Range ranges[] = {{"temperature", 0, any},
                              {"top_p", 1e-300, 1},
                              {"min_p", 0, 1},
                              {"presence_penalty", -2, 2},
                              {"frequency_penalty", -2, 2},
                              {"repetition_penalty", 1e-300, any},
                              {"top_k", -1, any}};
  for (const Range& each : ranges) {
    const Json* found = given(body, each.key);
    if (found == nullptr) continue;
    if (!found->is_number() || !(found->number() >= each.least && found->number() <= each.most))
      throw Refused(400, std::string(each.key) + ": expected a number that engines take", each.key);
  }
}

/// The keys that something here reads; the words of faces about what they do not do are in
/// docs/EMULATE.md.
bool is_read(Api api, std::string_view key) {
  for (const char* each : {"model", "max_tokens", "max_completion_tokens", "max_output_tokens",
                           "min_tokens", "ignore_eos", "stream", "stream_options", "priority", "n",
                           "best_of", "logprobs", "prompt_logprobs", "echo"}) {
    if (key == each) return true;
  }
  if (api == Api::completions) return key == "prompt";
  for (const char* each : {"messages", "input", "system", "instructions", "tools", "tool_choice"}) {
    if (key == each) return true;
  }
  return false;
}

std::vector<std::string> unread_keys(Api api, const Json& body) {
  constexpr std::size_t most = 32, longest = 64;
  std::vector<std::string> out;
  for (const Json::Member& each : body.members()) {
    if (out.size() < most && !each.value.is_null() && !is_read(api, each.key))
      out.push_back(printable(std::string_view(each.key).substr(0, longest)));
  }
  return out;
}

std::vector<std::int64_t> token_list(const Json& list) {
  std::vector<std::int64_t> out;
  out.reserve(list.items().size());
  for (const Json& each : list.items()) {
    if (!each.is_integer() || each.integer() < 0)
      throw Refused(400, "a prompt of tokens is a list of whole numbers", "prompt");
    out.push_back(each.integer());
  }
  return out;
}

/// A tool of chat completions {function = {name, parameters}}, of responses {name, parameters} or
/// of messages {name, input_schema}. Tools of the server have no arguments to call them with.
void read_tool(const Json& tool, std::vector<Tool>& out) {
  const Json* function = given(tool, "function");
  const Json& own = function != nullptr && function->is_object() ? *function : tool;
  const Json* name = given(own, "name");
  if (name == nullptr || !name->is_text()) return;
  const Json* schema = given(own, "parameters");
  if (schema == nullptr) schema = given(own, "input_schema");
  if (schema == nullptr && function == nullptr && given(own, "type") != nullptr) return;
  out.push_back({name->text(), schema == nullptr ? Json() : *schema});
}

void read_choice(const Json& choice, Asked& out) {
  std::string word = choice.is_text() ? choice.text() : "";
  if (choice.is_object()) {
    const Json* type = given(choice, "type");
    word = type != nullptr && type->is_text() ? type->text() : "";
    const Json* function = given(choice, "function");
    const Json* name = given(function != nullptr ? *function : choice, "name");
    if (name != nullptr && name->is_text()) out.chosen = name->text();
  }
  if (word == "none") {
    out.choice = Asked::Choice::none;
  } else if (!word.empty() && word != "auto") {  // required, any, tool, function
    out.choice = Asked::Choice::required;
  }
}

void read_tools(const Json& body, Asked& out) {
  const Json* tools = given(body, "tools");
  if (tools != nullptr && tools->is_array()) {
    for (const Json& each : tools->items()) read_tool(each, out.tools);
  }
  if (const Json* choice = given(body, "tool_choice")) read_choice(*choice, out);
  if (out.chosen.empty()) return;
  const auto is_it = [&](const Tool& each) { return each.name == out.chosen; };
  if (std::none_of(out.tools.begin(), out.tools.end(), is_it))
    throw Refused(400, "tool_choice names '" + out.chosen + "', which is no tool of this request",
                  "tool_choice");
}

void read_prompt(const Json& body, const PromptRules& rules, Asked& out) {
  const std::optional<std::string> text = prompt_text(body, rules, out.tokens);
  out.prompt = text ? count_text(*text, rules) : count_tokens(out.tokens, rules);
}

}  // namespace

Json read_body(const std::string& body) {
  try {
    Json out = parse_json(body, "body");
    if (!out.is_object()) throw Refused(400, "the body is no JSON object");
    return out;
  } catch (const Error& error) {
    throw Refused(400, error.what());
  }
}

std::optional<std::string> prompt_text(const Json& body, const PromptRules& rules,
                                       std::vector<std::int64_t>& tokens) {
  const Json* prompt = given(body, "prompt");
  if (prompt == nullptr) return conversation_text(body, rules);
  if (prompt->is_text()) return prompt->text();
  if (prompt->is_array() && prompt->items().size() == 1 && !prompt->items().front().is_number())
    prompt = &prompt->items().front();  // a batch of one
  if (prompt->is_text()) return prompt->text();
  if (!prompt->is_array() || prompt->items().empty())
    throw Refused(400, "prompt: expected a text or a list of tokens that is not empty", "prompt");
  if (!prompt->items().front().is_number())
    throw Refused(400, "prompt: one prompt per request is emulated", "prompt");
  tokens = token_list(*prompt);
  return std::nullopt;
}

Asked read_asked(Api api, const std::string& body, const PromptRules& rules) {
  const Json given_body = read_body(body);
  Asked out;
  out.api = api;
  out.model = text(given_body, "model");
  if (api == Api::completions && given(given_body, "prompt") == nullptr)
    throw Refused(400, "prompt is missing", "prompt");
  if (api == Api::messages && given(given_body, "max_tokens") == nullptr)
    throw Refused(400, "max_tokens is missing", "max_tokens");
  refuse_others(given_body);
  check_ranges(given_body);
  out.max_tokens =
      whole(given_body, {"max_completion_tokens", "max_output_tokens", "max_tokens"}, 1,
            api == Api::completions ? 16 : 0);  // OpenAI's default of completions
  if (out.max_tokens > limits::answer_tokens)
    throw Refused(400, "max_tokens is above 16,777,216", "max_tokens");
  out.min_tokens = whole(given_body, {"min_tokens"}, 0, 0);
  if (out.max_tokens > 0 && out.min_tokens > out.max_tokens)
    throw Refused(400,
                  "min_tokens must be less than or equal to max_tokens=" +
                      std::to_string(out.max_tokens) + ", got " + std::to_string(out.min_tokens),
                  "min_tokens");
  out.ignore_eos = flag(given_body, "ignore_eos");
  out.streamed = flag(given_body, "stream");
  out.unread = unread_keys(api, given_body);
  if (const Json* options = given(given_body, "stream_options")) {
    if (!out.streamed)
      throw Refused(400, "stream_options can only be given with stream", "stream_options");
    out.include_usage = flag(*options, "include_usage");
    if (flag(*options, "continuous_usage_stats"))
      out.unread.emplace_back("stream_options.continuous_usage_stats");
  }
  out.priority = whole(given_body, {"priority"}, -most_tokens, 0);
  if (api != Api::completions) read_tools(given_body, out);
  read_prompt(given_body, rules, out);
  return out;
}

}  // namespace rooflua::emulate
