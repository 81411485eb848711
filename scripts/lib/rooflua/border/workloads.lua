-- What the engine asks a workload: its next request, and what follows the end of a request. A request without fields is
-- answered in memory of the engine; any other answer is returned, and read and checked there.
local native = require "rooflua.native"
local border = require "rooflua.border.abi"

local functions = border.table_at("rooflua_serve_table", native.serve_table())
local asked = border.ffi.cast("rooflua_follow_up *", functions.follow_up)
local type = type
local NONE, NUMBERS, RETURNED = 0, 1, 2 -- rooflua_follow_up.answer

local workloads = {}

--- Answers in memory of the engine, where nothing but three numbers was returned. @return boolean whether it did
local function answers(arrival_s, prompt, output, fields)
  if arrival_s == nil then
    asked.answer = NONE
    return true
  end
  if fields ~= nil or type(arrival_s) ~= "number" or type(prompt) ~= "number" or type(output) ~= "number" then
    asked.answer = RETURNED
    return false
  end
  asked.arrival_s, asked.prompt_tokens, asked.output_tokens, asked.answer = arrival_s, prompt, output, NUMBERS
  return true
end

local function next_by(fn, state)
  local arrival_s, prompt, output, fields = fn(state)
  if answers(arrival_s, prompt, output, fields) then return end
  return arrival_s, prompt, output, fields
end

local function done_by(fn, state)
  local arrival_s, prompt, output, fields = fn(state, asked.now_s, asked.session, asked.klass, asked.completed ~= 0,
    asked.landed_tokens)
  if answers(arrival_s, prompt, output, fields) then return end
  return arrival_s, prompt, output, fields
end

--- What the engine calls for each next request.
--- @param state table|nil of a workload that is a table
--- @return fun(): ... what the workload returned, where it is read there
function workloads.next_of(fn, state)
  return function() return next_by(fn, state) end
end

--- The same after the end of a request, which is in rooflua_follow_up.
function workloads.done_of(fn, state)
  return function() return done_by(fn, state) end
end

return workloads
