---@meta
--- What schedulers see and do (scripts/schedulers), valid during their call.

--- One replica, read-only.
---@class rooflua.Replica
---@field now_s number
---@field index integer
---@field decodes integer that can get a token now
---@field decode_tokens integer of decodes with their drafts; without speculation as many as decodes
---@field speculates boolean
---@field decode_context_tokens number
---@field decode_steps integer planned so far
---@field decode_blocks integer that decode_all would take now
---@field seats integer in use
---@field finishing integer
---@field in_flight integer that decode again when their token lands; 0 without stages (deployment.pp)
---@field free_blocks integer
---@field total_blocks integer
---@field seat_blocks integer that a request holds besides the blocks of its tokens; admit() takes them
---@field block_size integer
---@field free_tokens integer
---@field waiting_tokens number
---@field async_depth integer
---@field prefix_caching boolean whether its cache keeps content
---@field max_model_len integer?
---@field group_ranks integer ranks that step together; 1 for a replica alone. Group fields hold before the step's plans
---@field group_steps number steps of the group; 0 for a replica alone, as the next two
---@field group_tokens integer of the step planned last, over all ranks
---@field group_max_tokens integer of its fullest rank
---@field group_prompt_ranks integer ranks with a prompt that waits or is not finished
---@field group_decode_ranks integer ranks that decode
---@field group_open_ranks integer ranks with a free seat
local Replica = {}

--- Waiting requests, in queue order.
---@return rooflua.Request[]
function Replica:waiting() end
--- Requests with a seat whose prompt is not done.
---@return rooflua.Request[]
function Replica:prefilling() end
--- Requests with a seat, oldest first.
---@return rooflua.Request[]
function Replica:running() end
--- How many tokens the prompts of two requests have in common from their start, cached or not.
---@param a rooflua.Request
---@param b rooflua.Request
---@return integer tokens
function Replica:shared_tokens(a, b) end
--- A number of the first full block of a request's sequence that is to be computed here (it is not cached, not stored,
--- not computed elsewhere), with all in front of it. Requests with the same number would compute the same block.
--- 0: there is none, or no other request can have it.
---@param request rooflua.Request
---@return number
function Replica:new_block(request) end
--- Tokens of a waiting request whose KV is cached in the layers that grow: more than its cached_tokens where no state
--- of recurrent layers was kept behind them.
---@param request rooflua.Request
---@return integer
function Replica:growing_tokens(request) end

--- The plan of one step. A method that returns false has changed nothing.
---@class rooflua.Plan
---@field tokens integer scheduled so far
---@field requests integer
---@field decodes integer
---@field prefills integer
---@field admitted integer
---@field preempted integer
---@field held_for "adapter"? why the last admission was declined, where that says nothing of the requests after it
local Plan = {}

--- Schedules every running decode, oldest first, up to a limit of tokens. Preempts victims if the cache is full.
---@param limit integer?
---@return integer scheduled
function Plan:decode_all(limit) end
--- Schedules one token of a running request, and its drafts: at most `tokens` together. False: a block is missing.
--- True, and nothing is scheduled, where max_model_len leaves no room before its rows have landed.
---@param request rooflua.Request
---@param tokens integer? default all that the budget leaves
---@return boolean ok
function Plan:decode(request, tokens) end
--- Schedules tokens of the prompt of a request that has a seat.
---@param request rooflua.Request
---@param tokens integer
---@return boolean ok
function Plan:prefill(request, tokens) end
--- Gives a waiting request a seat and blocks, and schedules its first tokens; all of it or nothing. False: no seat, no
--- blocks, or this plan preempted the request.
---@param request rooflua.Request
---@param tokens integer
---@param hold_tokens integer? tokens to hold blocks for
---@param fit_tokens integer? tokens that must fit the free blocks
---@param spare_blocks integer? blocks that must stay free
---@return boolean ok
function Plan:admit(request, tokens, hold_tokens, fit_tokens, spare_blocks) end
--- How many of the next tokens of a prompt, those after its hits, fit the budget of the encoder and its cache in this
--- step: 0, or up to an image that does not fit. All of them where the prompt has none. Nothing changes.
---@param request rooflua.Request
---@param tokens integer
---@return integer tokens
function Plan:encodable(request, tokens) end
--- Frees the blocks of a request, which waits again at the front of the queue.
---@param request rooflua.Request
---@return boolean ok
function Plan:preempt(request) end
--- Ends a waiting request that was not served.
---@param request rooflua.Request
---@param why string? the reason, which reports tell: one text for all requests that have it
---@return boolean ok
function Plan:reject(request, why) end
--- The scheduler is asked again at that time at the latest.
---@param time_s number
---@return boolean ok
function Plan:wake_at(time_s) end
