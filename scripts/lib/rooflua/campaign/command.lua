-- `rooflua campaign submit`: a scenario and its files become a folder with a job per shard. What a job looks like is a
-- template of scripts/campaigns/.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local json = require "rooflua.json"
local kinds = require "rooflua.program.kinds"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
local readme = require "rooflua.campaign.readme"
local quoting = require "rooflua.text.quoting"
local shell = require "rooflua.campaign.shell"

local command = {}
local fail = core.fail

--- The template of an engine, with what the site's file says.
local function template(on, site, site_file)
  local known = chunks.names_in "campaigns"
  if not chunks.is_there("campaigns." .. on) then fail("--on: %s", native.unknown_name("engine", on, known)) end
  local class = chunks.require("campaigns." .. on)
  if not policy.is_class(class) then fail("--on: campaigns/%s.lua returns no policy", on) end
  local ok, made = pcall(class, site)
  if not ok then error((site_file ~= "" and site_file .. ": " or "") .. tostring(made), 0) end
  return made
end

local function content_of(path) return native.content_name({ path }, json.array {}) end

--- Adds a file to {list, sources = by name, notes}, or all files of a folder of tables. Where a file of the working
--- directory and another one beside the scenario have one place, tasks find only the first.
local function add(copies, name, path)
  name = name:gsub("/%./", "/"):gsub("//+", "/")
  local other = copies.sources[name]
  if not native.file_exists(path) then
    for _, each in ipairs(native.list_folder(path, "")) do add(copies, name .. "/" .. each, path .. "/" .. each) end
  elseif not other then
    copies.sources[name] = path
    copies.list[#copies.list + 1] = { name = name, copy_of = path }
  elseif content_of(other) ~= content_of(path) then
    copies.notes[#copies.notes + 1] = path .. ": is not copied, because " .. other .. " has its place in the folder of "
      .. "the copies, and differs"
  end
end

--- The scenario and the files of the user that it depends on, as {name (below `scenario/`), copy_of}. Tasks run there,
--- so files of the working directory are copied as well. Notes tell of those that lie elsewhere and are not copied.
local function files_of(opened, notes)
  local folder = opened.path:match "^(.*)/[^/]*$" or "."
  local copies, taken = { list = json.array {}, sources = {}, notes = notes }, {}
  local function take(path)
    if taken[path] or path:sub(1, #native.home + 1) == native.home .. "/" and path ~= opened.path then return end
    taken[path] = true
    local inside = path:sub(1, #folder + 1) == folder .. "/" and path:sub(#folder + 2)
      or path:sub(1, 1) ~= "/" and path
    if inside and not inside:find("..", 1, true) then
      add(copies, "scenario/" .. inside, path)
    elseif native.file_exists(path) or #native.list_folder(path, "") > 0 then
      notes[#notes + 1] = path .. ": lies elsewhere than the scenario and is not copied; every machine must see it "
        .. "under this name"
    end
  end
  take(opened.path)
  for _, path in ipairs(kinds.files(opened)) do take(path) end
  return copies.list
end

--- What has to be given to `run` on every machine, quoted for a shell.
local function arguments_of(options)
  local parts = {}
  for _, each in ipairs(options.set) do parts[#parts + 1] = "--set " .. shell.quoted(each) end
  if options.seed then parts[#parts + 1] = ("--seed %d"):format(options.seed) end
  return table.concat(parts, " ")
end

--- Whether the scenario chooses its next runs by the results of those before.
local function chooses_runs(opened) return opened.kind == "search" or opened.kind == "plan" end

--- The name of the set of all runs; "" of a search or a plan, which choose their runs later.
local function set_of(opened)
  if chooses_runs(opened) then return "" end
  return kinds.hashes(opened, kinds.lists_operations(opened)).set.hash
end

--- Files, notes and the command that submits. options: on, shards, dir, program, jobs, set, seed, site, site_file;
--- rounds: a search or a plan is done round by round, and shards divide each round.
function command.submit(path, options)
  local opened = opening.file(path, { set = options.set, seed = options.seed })
  local engine = template(options.on, options.site, options.site_file)
  local notes = json.array {}
  local files = files_of(opened, notes)
  local name = path:match "([^/]+)$"
  local campaign = setmetatable({ name = quoting.name((name:gsub("%.lua$", "")), "run"), dir = options.dir,
    shards = options.shards, jobs = options.jobs, runs = #opened.all, scenario = name, on = options.on,
    program = options.program, arguments = arguments_of(options), title = opened.title, files = files,
    set = set_of(opened), rounds = options.rounds == true and chooses_runs(opened) }, shell)
  if #opened.all < options.shards and not campaign.rounds then
    notes[#notes + 1] = ("%d shards for %d runs: %d of them have nothing to do"):format(options.shards, #opened.all,
      options.shards - #opened.all)
  end
  local written = engine:write(campaign)
  written["README.md"] = readme.text(campaign, engine)
  for _, each in ipairs(core.sorted_keys(written)) do
    files[#files + 1] = { name = each, text = written[each] }
  end
  return { files = files, notes = notes, runs = #opened.all, scenario = name, set = campaign.set,
    submit = "sh " .. shell.quoted(options.dir .. "/submit.sh") }
end

return command
