--- The prompt: runs an input, prints its values, and keeps the names and simulations of the session. The program
--- reads lines and catches errors (engine/app/repl.cpp). Ctrl-C can stop this code anywhere, so it does not clean up
--- after itself: `settle` does.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local columns = require "rooflua.text.columns"
local commands = require "rooflua.repl.commands"
local complete = require "rooflua.repl.complete"
local help = require "rooflua.help.topics"
local ledger = require "rooflua.border.ledger"
local pretty = require "rooflua.repl.pretty"
local serve = require "rooflua.serving.live"

local repl = {}

local words = { help = true, _ = true, sim = true }

--- The state that the session shares with its commands.
local session = { environment = {}, lives = {}, order = {}, current = nil, saved = {}, width = 100 }

local function library_name(name)
  if name == "rooflua" then return name end
  if type(name) ~= "string" or not name:find "^[%a_]+$" then return nil end
  for _, each in ipairs(complete.library()) do
    if each == name then return "rooflua." .. name end
  end
end

local function given(...) return ... end

setmetatable(session.environment, {
  __index = function(environment, name)
    if name == "__given" then return given end
    local value = rawget(_G, name)
    if value ~= nil then return value end
    local module = library_name(name)
    if not module then return nil end
    value = require(module)
    rawset(environment, name, value)
    return value
  end,
})
session.environment.require = chunks.require
session.environment.pairs = core.sorted_pairs
session.environment.help = function(topic)
  if topic == nil then return commands.help(session) end
  print(columns.wrapped(help.text(topic), session.width))
end

--- Forgets simulations that the user closed.
local function drop_closed()
  for i = #session.order, 1, -1 do
    local name = session.order[i]
    if serve.is_closed(session.lives[name]) then
      table.remove(session.order, i)
      session.lives[name], session.saved[name] = nil, nil
      if session.current == name then
        session.current = session.order[1]
        session.environment.sim = session.current and session.lives[session.current]
      end
    end
  end
end

--- Turns "x?" into a call of help: help "Live:set" for a method of an object, such as sim.set, else help(x).
local function help_on(text)
  local object, method = text:match "^([%w_.]+)[.:]([%a_][%w_]*)$"
  local value = object and complete.value(object, session.environment)
  local class = value ~= nil and help.class_of(value)
  if class then return ("help %q"):format(class .. ":" .. method) end
  if text:find "^[%a_][%w_]*$" and session.environment[text] == nil then return ("help %q"):format(text) end
  return "help(" .. text .. ")"
end

--- Prints a note on stderr about a name that has no value, with a similar name.
local function note_unknown(text)
  local name = text:match "^%s*([%a_][%w_]*)%s*$"
  if not name or name == "nil" or name == "_" then return end
  if name == "sim" then return io.stderr:write "-- no simulation is open; :open FILE\n" end
  local known = complete.library()
  for _, key in ipairs(core.sorted_keys(session.environment)) do known[#known + 1] = key end
  for _, key in ipairs(core.sorted_keys(_G)) do known[#known + 1] = key end
  local guess = native.unknown_name("name", name, known):gsub(" %(known:.*", "")
  io.stderr:write("-- ", guess, "\n")
end

--- Names that tell the units of results: the results of a called library function, else the last word of the input.
local function result_names(text)
  local called = text:match "^%s*([%a_][%w_.]*)%s*%b()%s*$"
  local call = called and complete.value(called, session.environment)
  if type(call) == "function" then return help.returns(call) end
  return { text:match "([%a_][%w_]*)%s*$" }
end

local function show(text, silent, count, ...)
  if count == 0 then return end
  session.environment._ = (...)
  if silent then return end
  local names = result_names(text)
  for i = 1, count do
    print(pretty.text((select(i, ...)), session.width, names[i]))
  end
  if count == 1 and (...) == nil then note_unknown(text) end
end

local function counted(...) return select("#", ...), ... end

--- Returns "complete" and a function, "incomplete", or "wrong" and the message.
local function compile(text, name)
  local silent = text:find ";%s*$" ~= nil
  -- The expression is an argument of a call: `return f()` would be a tail call, whose errors lose their line.
  local open = "return __given(" .. text:gsub(";%s*$", "")
  -- A comment at the end would hide the bracket, so it may stand on its own line; that moves the line of some errors.
  local expression = native.load_text(open .. ")", name) or native.load_text(open .. "\n)", name)
  if expression then return "complete", expression, silent end
  local chunk, problem = native.load_text(text, name)
  if chunk then return "complete", chunk, true end
  if problem:find "'<eof>'%s*$" and not problem:find "unfinished string" then return "incomplete" end
  -- If the first word cannot begin a statement, the error of the expression says more than that of the statement.
  local first = text:match "^%s*([%a_][%w_]*)" or text:match "^%s*(%d+)" or text:match "^%s*(.)"
  if problem:find("near '" .. first .. "'", 1, true) then
    local _, other = native.load_text("return " .. text, name)
    problem = other or problem
  end
  return "wrong", problem
end

--- Runs one input. `line` is the number of its first line in a piped session; 0 at the prompt.
---@return string status "done", "incomplete" or "quit"
function repl.eval(text, line, width)
  session.width = width
  if text:find "^%s*:" then return commands.run(session, text) end
  if text:find "^%s*$" then return "done" end
  local asked = text:match "^%s*(.-)%s*%?%s*$"
  if asked and native.load_text("return " .. asked, "=prompt") then text = help_on(asked) end
  local name = line > 0 and "=stdin" or "=prompt"
  local status, chunk, silent = compile(("\n"):rep(line - 1) .. text, name)
  if status == "incomplete" then return status end
  if status == "wrong" then error(chunk, 0) end
  show(text, silent, counted(setfenv(chunk, session.environment)()))
  drop_closed()
  return "done"
end

--- Cleans up after an error or an interrupt; simulations in the middle of a step go back to their last fork.
---@return string note for the user; "" if there is nothing to say
function repl.settle()
  ledger.silence()
  chunks.settle()
  drop_closed()
  local notes = {}
  for _, name in ipairs(session.order) do
    local live = session.lives[name]
    if serve.is_broken(live) then
      if session.saved[name] then
        serve.restore(live, session.saved[name])
        session.saved[name] = nil
        notes[#notes + 1] = ("%s was in the middle of a step and is back at %.6g s"):format(name, live.now_s)
      else
        notes[#notes + 1] = name .. " was left in the middle of a step; :open it again"
      end
    elseif session.moving then
      notes[#notes + 1] = ("%s stands at %.6g s"):format(name, live.now_s)
    end
  end
  session.moving = nil
  return core.join(notes, "\n")
end

--- Candidates of Tab for the line up to the cursor.
---@return table {replaced = bytes, candidates = {...}}
function repl.complete(line)
  local names = complete.library()
  for _, word in ipairs(core.sorted_keys(words)) do names[#names + 1] = word end
  names[#names + 1] = "rooflua"
  local replaced, candidates = complete.at(line, session.environment, names, commands.list(session))
  return { replaced = replaced, candidates = require("rooflua.json").array(candidates) }
end

return repl
