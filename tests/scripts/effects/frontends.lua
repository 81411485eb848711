-- Scenarios in which the keys of a front end that is a queue act, for effects_test.lua.
local frontends = {}

--- @param add fun(scene, keys) @param served fun(more)
function frontends.add(add, served)
  add(served, { ["frontend.endpoint"] = { "chat" }, ["frontend.server_request_s"] = { 0.01 },
    ["frontend.server_prompt_token_s"] = { 1e-5 }, ["frontend.server_chunk_s"] = { 1e-4 },
    ["frontend.client_request_s"] = { 0.01 }, ["frontend.client_chunk_s"] = { 1e-4 } })
  add(function() return served { frontend = { server_request_s = 0.02, server_chunk_s = 1e-3 } } end, {
    ["frontend.servers"] = { 2 }, ["frontend.server_turns"] = { 2 },
    ["frontend.egress_servers"] = { 1 }, ["frontend.stream_interval"] = { 4 } })
end

return frontends
