-- The key `frontend`: times outside of the engine, and of its servers and the clients' process, where requests and
-- tokens queue. With `endpoint`, what the scenario leaves open follows from the engine.
local core = require "rooflua.base.core"
local schema = require "rooflua.scenario.schema"

local frontend = {}

--- Time of the clients' process for each request that it sends. Assumed: no figure is published; 0.3 to 3 ms.
local client_request_s = 1e-3

--- The engine's times for an endpoint, by key of the scenario.
local function rates_of(reader, endpoint, engine)
  local values = engine and engine.values or {}
  local request_s = values[endpoint == "chat" and "frontend_chat_s" or "frontend_completion_s"]
  if request_s == nil then
    reader:fail("frontend.endpoint", "the times of the front end of %s are not known; give server_request_s and "
      .. "server_chunk_s in its place", engine and engine.engine.name .. " " .. engine.release or "this engine")
  end
  return { server_request_s = request_s, server_prompt_token_s = values.frontend_prompt_token_s,
    server_chunk_s = values.frontend_chunk_s, servers = values.frontend_servers,
    server_turns = values.frontend_turns,
    stream_interval = tonumber(values.stream_interval), client_request_s = client_request_s }
end

--- @param list table replicas
--- @return table figures of Frontend
function frontend.of(reader, given, list)
  local out = core.copy(schema.check_group(reader, "frontend", given))
  local endpoint = out.endpoint
  out.endpoint = nil
  if endpoint == nil or endpoint == "none" then return out end
  for key, value in pairs(rates_of(reader, endpoint, list[1].prepared.engine)) do
    if out[key] == nil then out[key] = value end
  end
  return out
end

return frontend
