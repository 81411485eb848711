#pragma once
// How a server is emulated: what the command and the scenario say.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "emulate/kv/rules.h"
#include "emulate/prompt.h"

namespace rooflua::emulate {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8000;                  // 0: any free one
  bool ports_each = false;          // replica i at port + i, and no router
  bool admin = false;               // /admin is served
  double speed = 1;                 // seconds of the scenario's clock in a second
  double drain_s = 10;              // from the first TERM on; on the wall clock
  std::string record;               // a file; empty: none
  std::vector<std::string> models;  // names of the model that clients may use; the first is told
  std::string owner;                // of the model, in /v1/models
  std::string version;              // of the engine
  std::int64_t max_model_len = 0;   // 0: not known
  PromptRules prompts;
  std::int32_t default_tokens = 128;  // of an answer whose length nothing says
  double tool_share = 0.5;            // of answers with tools that call one, in [0, 1]
  std::uint64_t seed = 0;
  std::vector<std::string> session_headers;
  std::map<std::string, int> statuses;  // of HTTP, by outcome of requests without a token
  Json metrics;                         // Metrics
  std::optional<KvServed> kv;           // nothing: no events of KV caches
  int most_streams = 4096;              // under way at once
  double request_s = 30;  // in which a client must have sent its request, on the wall clock
};

/// @throws Error for a key that is unknown, missing or of another kind
ServerOptions server_options(const Json& given);

}  // namespace rooflua::emulate
