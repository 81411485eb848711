#include "emulate/options.h"

#include "base/fields.h"

namespace rooflua::emulate {

ServerOptions server_options(const Json& given) {
  const Fields fields(given, "emulate");
  ServerOptions out;
  out.host = fields.need_text("host");
  out.port = fields.need_integer("port");
  out.ports_each = fields.boolean("ports_each", false);
  out.admin = fields.boolean("admin", false);
  out.speed = fields.need_number("speed");
  out.drain_s = fields.need_number("drain_s");
  out.record = fields.text("record").value_or("");
  out.models = fields.texts("models");
  out.owner = fields.need_text("owner");
  out.version = fields.need_text("version");
  out.max_model_len = fields.integer("max_model_len").value_or(0);
  out.prompts.bytes_per_token = fields.need_number("bytes_per_token");
  out.prompts.block_tokens = fields.need_integer("block_tokens");
  out.default_tokens = fields.need_integer("default_tokens");
  out.tool_share = fields.need_number("tool_share");
  out.seed = static_cast<std::uint64_t>(fields.need_number("seed"));
  out.session_headers = fields.texts("session_headers");
  out.most_streams = fields.need_integer("most_streams");
  out.request_s = fields.need_number("request_s");
  for (const Json::Member& each : fields.need_table("statuses").object().members())
    out.statuses[each.key] = static_cast<int>(each.value.integer());
  out.metrics = *fields.object().find("metrics");
  fields.need_table("metrics");
  if (const Json* kv = fields.object().find("kv_events")) {
    fields.need_table("kv_events");
    out.kv = kv_served(*kv, out.ports_each);
  }
  fields.finish();
  return out;
}

}  // namespace rooflua::emulate
