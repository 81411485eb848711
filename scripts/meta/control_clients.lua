---@meta
-- Clients: how long they wait, and what they send again (docs/CONTROL.md).

--- What a file of scripts/clients returns. One instance per run. Every method is optional; a client without any waits
--- for ever and sends nothing again.
---@class rooflua.Client: rooflua.PolicyClass
---@field patience? fun(self, request: rooflua.Request, draws: rooflua.RandomStream): number?, number? seconds from its
--- sending to its first token and to its last; nil: it waits for ever. Asked when it is sent
---@field cancels? fun(self, request: rooflua.Request, draws: rooflua.RandomStream): number? seconds from its sending to
--- its cancel; nil: it is not cancelled. Asked when it is sent
---@field again? fun(self, request: rooflua.Request, ending: rooflua.Ending,
---draws: rooflua.RandomStream): number?, boolean?
--- seconds until it is sent again, and whether the tokens that it has are kept: they become the end of its prompt, and
--- are not generated again. nil: the client gives up
---@field start? fun(self, rng: rooflua.Random)

--- How a request ended that its client may send again: refused, expired, timed_out, rejected, starved or replica_lost.
---@class rooflua.Ending
---@field outcome string
---@field status integer? HTTP status of the answer; nil: there was none, the client had waited too long
---@field attempt integer from 0
---@field now_s number
---@field waited_s number since this attempt was sent
---@field output_tokens integer that this attempt gave

--- What a file of scripts/faults returns. One instance per run.
---@class rooflua.Faults: rooflua.PolicyClass
---@field detect_s? number how long routers believe that a replica is ready which has failed; default 0
---@field connect_s? number after which a request that is sent to it ends as replica_lost; default 0
---@field next fun(self, now_s: number, replicas: integer): rooflua.Fault? the next fault, not before now_s; nil: there
--- is none, and it is not asked again. Asked at the start, and when the fault before has come
---@field start? fun(self, rng: rooflua.Random)

---@class rooflua.Fault
---@field time_s number
---@field kind "fail"|"slow"
---@field replica integer from 1
---@field for_s number? until it is repaired, or as fast as before; nil: for ever
---@field factor number? of `slow`: its steps take so many times as long
