-- Sessions of inference-lab, one per line: {id, steps = {{input, new, output, gap, kind}, ...}}.
--
-- `input` tokens are the prompt, `new` of them are not the context of the step before (its prompt and its answer). The
-- step is sent `gap` seconds after the one before has ended.
-- @source doublewordai/inference-lab, src/request/session.rs
local collection = require "rooflua.plays.collection"
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local inference_lab = {}

function inference_lab.tells(document)
  return type(document) == "table" and type(document.steps) == "table" and document.id ~= nil and "inference_lab"
    or nil
end

local keys = { session = { id = true, steps = true },
  step = { input = true, new = true, output = true, gap = true, kind = true } }

--- The program whose format it is refuses other keys, too.
local function check(where, owner, known)
  if type(owner) ~= "table" then core.fail("%s: expected an object, found %s", where, core.describe(owner)) end
  for _, key in ipairs(core.sorted_keys(owner)) do
    if not known[key] then
      core.fail("%s: %s: unknown key (known: %s)", where, key, table.concat(core.sorted_keys(known), ", "))
    end
  end
end

--- The tokens of a step that are the context of the one before.
local function kept_of(own, where, step, prompt, before)
  local fresh = fields.whole(where, step, "new", 0)
  if fresh > prompt then core.fail("%s: new: %d is more than input = %d", where, fresh, prompt) end
  local context = before and before.prompt_tokens + before.output_tokens or 0
  if prompt - fresh > context and before then
    collection.say(own, "%d steps repeat more than the context before them, and get all of it")
  end
  return math.min(prompt - fresh, context)
end

local function read(own, where, line, document)
  check(where, document, keys.session)
  local steps = fields.list(where, document, "steps")
  if #steps == 0 then return collection.say(own, "%d sessions without steps are left out") end
  local key = ("%s, line %d"):format(tostring(document.id), line)
  local play, before = collection.play(own, key), nil
  play.name = tostring(document.id)
  for i, step in ipairs(steps) do
    local here = ("%s: step %d"):format(where, i)
    check(here, step, keys.step)
    local prompt = fields.whole(here, step, "input", 1)
    local gap_s = fields.number(here, step, "gap") or 0
    local row = { prompt_tokens = prompt, session = 1,
      output_tokens = math.max(1, fields.whole(here, step, "output", 0)),
      content = collection.grown(own, prompt, before, kept_of(own, here, step, prompt, before)),
      output_content = collection.new_content(own),
      parents = before and { { row = i - 1, event = "ended", delay_s = gap_s } } or nil }
    play.rows[i], before = row, row
  end
end

--- @param documents table[] {line, value}
function inference_lab.plays(path, documents, _, _, first_content)
  local own = collection.new(first_content, collection.usual_block_tokens)
  for _, each in ipairs(documents) do read(own, ("%s:%d"):format(path, each.line), each.line, each.value) end
  return collection.done(own)
end

return inference_lab
