-- What a policy reads of a request: by name, a function of the engine's record of it and of the handle; or `true` where
-- the engine's number is read as it is.
local border = require "rooflua.border.abi"
local native = require "rooflua.native"
local words = require "rooflua.base.words"

local C = border.table_at("rooflua_serve_table", native.serve_table())
local B = C.border

local phase_names, phases = words.by_code "phase", words.codes "phase"
local WAITING, DECODE, FINISHING, IN_FLIGHT = phases.waiting, phases.decode, phases.finishing, phases.in_flight
local HITS_OF_PREEMPTED, HITS_OF_ANY = 1, 2 -- CacheHits of serve/contract/visible_replica.h; 0: no request has any

--- Decode steps since the stored numbers of a decoding request were written.
local function steps_since(request)
  if request.phase ~= DECODE or B.view == nil then return 0 end
  return B.view.decode_index - request.joined
end

local function optional(value, none)
  if value == none then return nil end
  return value
end

--- Whether the cache can hold tokens of a waiting request. If it cannot, no function of the engine is called, and
--- compiled code need not create the request's handle.
local function may_hit(request)
  local view = B.view
  return view ~= nil and (view.hits == HITS_OF_ANY or view.hits == HITS_OF_PREEMPTED and request.preemptions > 0)
end

--- Whether the call is that of key(request): the engine has then written what is cached to the request.
local KEY = 3
local function is_keyed() return B.live == KEY end

return {
  id = true,
  phase = function(r) return phase_names[r.phase] end,
  arrival_s = true,
  prompt_tokens = true,
  cached_tokens = function(r, handle)
    if r.phase == WAITING and not is_keyed() then return may_hit(r) and C.cached_tokens(B, handle.slot) or 0 end
    return r.cached_tokens
  end,
  context_tokens = function(r) return r.context_tokens + steps_since(r) end,
  emitted_tokens = function(r) return r.emitted_tokens + steps_since(r) end,
  sequence_tokens = function(r) return r.prompt_tokens + r.emitted_tokens + steps_since(r) end,
  pending_tokens = function(r, handle)
    local phase, pending = r.phase, r.prompt_tokens + r.emitted_tokens - r.context_tokens
    if phase == WAITING and not is_keyed() and not may_hit(r) then return pending end
    if phase == DECODE then return 1 end
    if phase == FINISHING or phase == IN_FLIGHT then return 0 end
    if is_keyed() then return pending - r.cached_tokens end
    if phase ~= WAITING or not may_hit(r) then return pending end
    return pending - C.cached_tokens(B, handle.slot)
  end,
  draft_tokens = true,
  drafted_tokens = true,
  accepted_tokens = true,
  rounds = true,
  preemptions = true,
  priority = true,
  class = function(r) return r.klass end,
  session = function(r) return (optional(r.session, -1)) end,
  tenant = function(r) return (optional(r.tenant, -1)) end,
  program = function(r) return (optional(r.program, -1)) end,
  adapter = function(_, handle) return (optional(C.adapter(B, handle.slot), 0)) end,
  attempt = true,
  prefix = true,
  max_output_tokens = function(r) return (optional(r.max_output_tokens, 0)) end,
  predicted_output_tokens = function(r) return (optional(r.predicted_output_tokens, -1)) end,
}
