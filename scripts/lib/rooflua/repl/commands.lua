--- The :commands of the prompt.
local native = require "rooflua.native"
local answers = require "rooflua.intervals.answers"
local breakdown = require "rooflua.serving.breakdown"
local changes = require "rooflua.serving.changes"
local chosen_play = require "rooflua.measure.chosen_play"
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local failures = require "rooflua.serving.failures"
local help = require "rooflua.help.topics"
local measure = require "rooflua.measure"
local pretty = require "rooflua.repl.pretty"
local pricing = require "rooflua.repl.pricing"
local reload = require "rooflua.repl.reload"
local notes = require "rooflua.machine.notes"
local opening = require "rooflua.runs.opening"
local serve = require "rooflua.serving.live"
local slowest = require "rooflua.measure.slowest"
local tree = require "rooflua.repl.tree"
local units = require "rooflua.text.units"

local commands = {}
local list = {}

local function say(session, text) print(pretty.clipped(text, session.width)) end

local function fail(message, ...) error(select("#", ...) > 0 and message:format(...) or message, 0) end

-- Simulations of the session --------------------------------------------------------------------------

local function current(session)
  local live = session.current and session.lives[session.current]
  return live or fail "no simulation is open; :open scenarios/02_chunk_size.lua, for example"
end

local function named(session, name)
  return session.lives[name]
    or fail("%s", native.unknown_name("simulation", name, core.sorted_keys(session.lives)))
end

local function use(session, name)
  session.current = name
  session.environment.sim = session.lives[name]
end

local function adopt(session, name, live)
  session.lives[name], session.environment[name] = live, live
  session.order[#session.order + 1] = name
  use(session, name)
end

local function free_name(session)
  for code = ("a"):byte(), ("z"):byte() do
    local name = string.char(code)
    if session.environment[name] == nil then return name end
  end
  fail "give it a name: :fork NAME"
end

--- A name for a new simulation, which becomes a variable of the prompt.
local function check_name(session, name)
  if not name:find "^[%a_][%w_]*$" then
    fail("a simulation cannot be called '%s'; expected letters, digits and _, as in :fork other", name)
  end
  local taken = session.lives[name] and "a simulation" or session.environment[name] ~= nil
    and "a " .. type(session.environment[name])
  if taken then fail("'%s' is the name of %s already; :fork without a name takes a free one", name, taken) end
end

local function status(session, name)
  local mark = name == session.current and "* " or "  "
  local longest = 0
  for _, each in ipairs(session.order) do longest = math.max(longest, #each) end
  return mark .. units.padded(name, longest) .. "  " .. pretty.text(session.lives[name], session.width - 6)
end

--- Keeps a fork. If an error stops the simulation in the middle of a step, it goes back to this fork.
local function save(session, name)
  if session.saved[name] then session.saved[name]:close() end
  session.saved[name] = serve.try_fork(session.lives[name])
end

local function words(text)
  local out = {}
  for word in text:gmatch "%S+" do out[#out + 1] = word end
  return out
end

-- Opening ---------------------------------------------------------------------------------------------

local function show_prices(session, opened, variant)
  local result = pricing.open(session, opened, variant)
  if result.kind ~= "price" then
    session.environment._ = result.static
    return say(session, pretty.text(result.static, session.width))
  end
  for _, priced in ipairs(result.batches) do
    say(session, priced.name .. ": " .. tree.text(priced))
  end
  for _, note in ipairs(result.notes or {}) do say(session, note) end
  session.environment._ = result
end

list.open = { argument = "file", usage = ":open FILE [N] [KEY=VALUE ...]",
  doc = "a scenario as a simulation at time 0; N picks a variant",
  run = function(session, arguments)
    local given = words(arguments)
    local file, variant, sets = table.remove(given, 1), 1, {}
    if not file then fail "expected a scenario: :open FILE" end
    for _, each in ipairs(given) do
      if tonumber(each) then variant = tonumber(each) else sets[#sets + 1] = each end
    end
    if not native.file_exists(file) then
      local shipped = native.home .. "/" .. file
      if not native.file_exists(shipped) then fail("%s: there is no such file", file) end
      file = shipped
    end
    local opened = opening.file(file, { set = sets, variant = variant })
    if variant < 1 or variant > #opened.variants or variant % 1 ~= 0 then
      fail("%s: expected a variant from 1 to %d, found %s", file, #opened.variants, variant)
    end
    if opened.title ~= "" then say(session, opened.title) end
    for i, each in ipairs(opened.variants) do
      if #opened.variants > 1 then
        say(session, ("%s %d  %s"):format(i == variant and "*" or " ", i, each.name))
      end
    end
    if opened.kind ~= "serve" then return show_prices(session, opened, variant) end
    local live = serve.open(opening.variant(opened, variant), { file = file })
    for _, name in ipairs(session.order) do
      session.environment[name] = nil
      if session.saved[name] then session.saved[name]:close() end -- only the session can reach it
    end
    session.lives, session.order, session.saved, session.priced = {}, {}, {}, nil
    session.file, session.options = file, { set = sets }
    adopt(session, "a", live)
    for _, note in ipairs(notes.of_opened(serve.state(live)) or {}) do say(session, note) end
    say(session, status(session, "a"))
  end }

-- Advancing -------------------------------------------------------------------------------------------

list.step = { usage = ":step [N]", doc = "to the next end of a step, N times (of the current simulation)",
  run = function(session, arguments)
    local live, count = current(session), tonumber(arguments == "" and 1 or arguments)
    if not count then fail("expected a number of steps, found '%s'; :price prices a batch", arguments) end
    save(session, session.current)
    session.moving = true
    local more = live:step(count)
    session.moving = nil
    local last
    for i = 1, #serve.state(live).replicas do
      local own = live:last_step(i)
      if own and (not last or own.end_s > last.end_s) then last = own end
    end
    if last then
      say(session, "  " .. tree.headline(last, #serve.state(live).replicas > 1 and serve.name_of(live, last.replica)))
    end
    say(session, status(session, session.current))
    if not more then say(session, "  nothing is left to happen") end
  end }

local function advance(session, go)
  current(session)
  session.moving = true
  for _, name in ipairs(session.order) do
    save(session, name)
    go(session.lives[name])
    say(session, status(session, name))
  end
  session.moving = nil
end

list["until"] = { usage = ":until T", doc = "every simulation up to T seconds; +T from now",
  run = function(session, arguments)
    local more, number = arguments:match "^(%+?)%s*([%d.eE+-]+)%s*s?$"
    local time_s = tonumber(number or "")
    if not time_s then fail("expected a time in seconds, found '%s'", arguments) end
    if more == "+" then time_s = time_s + current(session).now_s end
    if time_s < current(session).now_s then
      fail("it is %.6g s already; :open it again to go back", current(session).now_s)
    end
    advance(session, function(live) live:run_until(time_s) end)
  end }

list.run = { usage = ":run", doc = "every simulation to its end",
  run = function(session) advance(session, function(live) live:run() end) end }

list.set = { argument = "set", usage = ":set KEY=VALUE ...",
  doc = "another scheduler or step model (scheduler=sjf), or one of their parameters (steps.host_step_s=0)",
  run = function(session, arguments)
    local live = current(session)
    local given = words(arguments)
    if #given == 0 then fail "expected for example scheduler=sjf, or scheduler.max_num_seqs=8" end
    live:set(changes.of(live, given))
    say(session, status(session, session.current))
  end }

list.fork = { argument = "set", usage = ":fork [NAME] [KEY=VALUE ...]",
  doc = "an independent copy with the same random numbers; KEY=VALUE as in :set",
  run = function(session, arguments)
    local live, given = current(session), words(arguments)
    local name = given[1] and not given[1]:find "=" and table.remove(given, 1) or free_name(session)
    check_name(session, name)
    local from = session.current
    local fork = live:fork()
    if #given > 0 then fork:set(changes.of(fork, given)) end
    adopt(session, name, fork)
    use(session, from)
    for _, each in ipairs(session.order) do say(session, status(session, each)) end
  end }

list.use = { argument = "simulation", usage = ":use NAME", doc = "makes another simulation the current one",
  run = function(session, arguments)
    named(session, arguments)
    use(session, arguments)
    say(session, status(session, arguments))
  end }

-- Looking ---------------------------------------------------------------------------------------------

list.explain = { usage = ":explain [REPLICA]", doc = "the last step as a tree: what its time consists of",
  run = function(session, arguments)
    local replica = tonumber(arguments == "" and 1 or arguments)
    if not replica then fail("expected the number of a replica, found '%s'", arguments) end
    local priced = current(session):explain(replica)
    session.environment._ = priced
    say(session, tree.headline(priced.last))
    say(session, tree.text(priced))
    if math.abs(priced.time_s - priced.was_s) > 1e-9 * priced.was_s then
      say(session, ("  when it ran it took %s: the step model is another one now"):format(
        units.text(priced.was_s, "s")))
    end
  end }

list.price = { argument = pricing.examples, usage = ":price BATCH [REPLICA]",
  doc = "what a batch takes now: 0+4096 (context + new tokens of a prefill), 2048x64 (decodes), or several of them",
  run = function(session, arguments)
    local text
    text, session.environment._ = pricing.of(session, session.lives[session.current], words(arguments))
    say(session, text)
  end }

list.why = { argument = slowest.words, usage = ":why ID",
  doc = "where the time of a request went; ID is a number, slowest, slowest_ttft or slowest_tpot; or of a play: "
    .. "play:N, play:slowest, play:p99 or play:NAME",
  run = function(session, arguments)
    local play = chosen_play.word(arguments)
    local id = play or not slowest.is_word(arguments) and tonumber(arguments)
      or slowest.of_ended(current(session):ended(), arguments)
    if not id then fail "no request was completed yet" end
    local text, document = measure[play and "why_play" or "why"](current(session), id)
    session.environment._ = document
    say(session, (text:gsub("\n+$", "")))
  end }

list.plot = { argument = { "load", "ttft", "tpot", "e2e", "queue", "roofline" }, usage = ":plot [WHAT]",
  doc = "load (queue, batch, KV cache over time), ttft, tpot, e2e, queue (quantiles), roofline",
  run = function(session, arguments)
    local what = current(session)
    if arguments ~= "" and arguments ~= "load" and arguments ~= "roofline" and #session.order > 1 then
      what = session.lives
    end
    say(session, measure.plot(what, arguments ~= "" and arguments or nil, { width = math.min(session.width, 120) }))
  end }

list.diff = { argument = "simulation", usage = ":diff [A B] [METRIC]",
  doc = "two simulations request by request: which got faster, which slower, and why",
  run = function(session, arguments)
    local names, metric = {}, nil
    for _, word in ipairs(words(arguments)) do
      if session.lives[word] then
        names[#names + 1] = word
      elseif measure.is_metric(word) then
        metric = word
      else
        local known = { core.unpack(session.order) }
        for _, each in ipairs { "e2e", "queue", "tpot", "ttft" } do known[#known + 1] = each end
        fail("%s", native.unknown_name("simulation or metric", word, known))
      end
    end
    if #names == 0 then
      names[1] = session.order[1]
      names[2] = session.current ~= names[1] and session.current or session.order[#session.order]
    end
    if #names ~= 2 or names[1] == names[2] then fail "two simulations are needed: :fork one, then :diff" end
    local a, b = named(session, names[1]), named(session, names[2])
    local text, rows = measure.diff(a, b, { names = names, metric = metric })
    session.environment._ = rows
    say(session, text)
    if a.now_s ~= b.now_s then
      say(session, ("  they stand at %s and %s"):format(units.text(a.now_s, "s"), units.text(b.now_s, "s")))
    end
  end }

list.report = { usage = ":report", doc = "the report of the current simulation so far",
  run = function(session)
    local state = serve.state(current(session))
    breakdown.tell(state)
    say(session, (native.serve_report(state.run):gsub("\n+$", "")))
    local found = answers.of_run(state, native.serve_summary(state.run))
    for _, line in ipairs(found and found.text or {}) do say(session, columns.wrapped(line, session.width)) end
    for _, note in ipairs(notes.of_run(state, failures.of(state)) or {}) do say(session, note) end
  end }

-- The session -----------------------------------------------------------------------------------------

list.time = { argument = "expression", usage = ":time [N] EXPR", doc = "what EXPR gives, and its CPU time (N times)",
  run = function(session, arguments)
    local count, text = arguments:match "^(%d+)%s+(%S.*)$"
    count, text = tonumber(count or 1), text or arguments
    if text == "" then fail "expected an expression, as in :time sim:result()" end
    if count == 0 then fail "expected how often, at least 1 time, found 0" end
    local chunk, problem = native.load_text("return " .. text, "=prompt")
    if not chunk then chunk, problem = native.load_text(text, "=prompt") end
    if not chunk then fail("%s", problem) end
    setfenv(chunk, session.environment)
    local value
    local start_s = os.clock()
    for _ = 1, count do value = chunk() end
    local time_s = os.clock() - start_s
    if value ~= nil then
      session.environment._ = value
      say(session, pretty.text(value, session.width, text:match "([%a_][%w_]*)%s*$"))
    end
    say(session, ("CPU time %s%s"):format(units.text(time_s / count, "s"),
      count > 1 and (" each, %s together"):format(units.text(time_s, "s")) or ""))
  end }

list.reload = { usage = ":reload", doc = "reads edited policy files; simulations go on with them",
  run = function(session) print(columns.wrapped(reload.run(session), session.width)) end }

list.help = { argument = "topic", usage = ":help [TOPIC]", doc = "this; or help on why, cost.gemm, schedulers.sjf, ...",
  run = function(session, arguments)
    if arguments == "" then return commands.help(session) end
    local asked = list[arguments:gsub("^:", "")]
    print(columns.wrapped(asked and asked.usage .. "  " .. asked.doc or help.text(arguments), session.width))
  end }

list.quit = { usage = ":quit", doc = "Ctrl-D does it too", run = function() return "quit" end }

local order = { "open", "step", "until", "run", "set", "fork", "use", "explain", "price", "why", "plot", "diff",
  "report", "time", "reload", "help", "quit" }

local closing = [[

Anything else is Lua. An expression prints what it gives; a ; at the end keeps it quiet; _ is the last value.
x = 1 stays, local x = 1 lasts for its line.
Modules are there by name: spec, mfu, cost, serve, measure, ...
help(x) and x? explain a function, an object or a policy. Tab completes. Ctrl-C stops, Ctrl-D leaves.]]

--- {usage, doc} of every command, in the order of :help.
function commands.described()
  local out = {}
  for i, name in ipairs(order) do out[i] = { list[name].usage, list[name].doc } end
  return out
end

--- The list of commands, and how the prompt reads a line.
function commands.help(session)
  local longest = 0
  for _, name in ipairs(order) do longest = math.max(longest, #list[name].usage) end
  for _, name in ipairs(order) do
    local doc = columns.wrapped(list[name].doc, math.max(session.width - longest - 6, 30))
    print("  " .. units.padded(list[name].usage, longest) .. "  " .. doc:gsub("\n", "\n" .. (" "):rep(longest + 4)))
  end
  print(columns.wrapped(closing, session.width))
end

--- The commands, each with the arguments that Tab offers.
function commands.list(session)
  local lives = core.sorted_keys(session.lives)
  list.use.argument = lives
  list.diff.argument = { core.unpack(lives) }
  for _, metric in ipairs { "e2e", "queue", "tpot", "ttft" } do table.insert(list.diff.argument, metric) end
  list.set.argument, list.fork.argument = changes.settable(session), changes.settable(session)
  return list
end

--- Runs a command such as ":step 3". Its name may be abbreviated as long as only one command begins so.
function commands.run(session, text)
  local name, arguments = text:match "^%s*:%s*(%a*)%s*(.-)%s*$"
  local command = list[name]
  if not command then
    local found = {}
    for _, each in ipairs(order) do
      if name ~= "" and each:sub(1, #name) == name then found[#found + 1] = each end
    end
    if #found > 1 then fail(":%s can mean %s", name, ":" .. core.join(found, ", :")) end
    if #found == 0 then fail("%s; :help has them all", (native.unknown_name("command", name, order))) end
    command = list[found[1]]
  end
  if arguments ~= "" and not command.usage:find " " then
    fail(":%s takes nothing after it, found '%s'", command.usage:sub(2), arguments)
  end
  return command.run(session, arguments) or "done"
end

return commands
