---@meta

---What an autoscaler sees of its pool. Engines are counted: one that has several data-parallel ranks is one.
---@class rooflua.Pool
---@field now_s number
---@field ready integer
---@field starting integer
---@field draining integer
---@field failed integer
---@field min integer
---@field max integer
---@field wanted integer what the autoscaler wanted when it was asked last, within min and max
---@field held integer requests that wait in front of the pool: a gate holds them, or no replica is ready
local pool = {}

---A series of the pool, in buckets of a second.
---@alias rooflua.PoolSeries "arrivals"|"prompt_tokens"|"cached_tokens"|"output_tokens"|"completed"|"refused"|"held"
---|"waiting"|"running"|"kv_used_frac"|"busy"|"ttft_s"|"itl_s"|"e2e_s"|"queue_s"

--- The mean over the last window_s: of a count per second, of a state over seconds, of a time over requests.
---@param series rooflua.PoolSeries
---@param window_s number no more than the policy declares (window_s or window())
---@return number? nil where there is none
function pool:mean(series, window_s) end
--- How much per second; of a time: requests per second.
---@param series rooflua.PoolSeries
---@param window_s number
---@return number
function pool:rate(series, window_s) end
--- The smallest value that at least the share q does not exceed.
---@param series rooflua.PoolSeries
---@param q number
---@param window_s number
---@return number?
function pool:quantile(series, q, window_s) end
--- The engines that are ready.
---@return rooflua.PoolMember[]
function pool:replicas() end

---@class rooflua.PoolMember
---@field replica integer its number in the scenario, of the first rank
---@field waiting integer
---@field running integer
---@field outstanding integer requests that were sent there and have not ended
---@field waiting_tokens number
---@field kv_used_frac number

---How many replicas a pool has (scripts/autoscalers). It has a parameter interval_s, and window_s or a method window()
---where it looks back further than that.
---@class rooflua.Autoscaler
local autoscaler = {}
--- How many replicas are wanted, starting ones included. The pool gets no fewer than its min and no more than its max.
---@param pool rooflua.Pool
---@return number
function autoscaler:scale(pool) end
--- Which of the ready ones goes, as a place in the list; nil: the one with the fewest outstanding requests.
---@param pool rooflua.Pool
---@param candidates rooflua.PoolMember[]
---@return integer?
function autoscaler:drain(pool, candidates) end
