-- The one scenario that a handle of the library stands for (engine/library): a file with overrides, or overrides alone.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local opening = require "rooflua.runs.opening"
local Reader = require "rooflua.scenario.reader"
local stated_policies = require "rooflua.applied.stated_policies"

local overrides = {}

--- A batch that stands for none: kind "price" asks for a list.
local any_batch = { { decodes = 1, decode_context_tokens = 1 } }

--- Texts as --set takes them.
local function texts(list)
  local out = {}
  for i, text in ipairs(core.table(list or {}, "set")) do out[i] = core.text(text, "set") end
  return out
end

--- Divides them: keys of a whole scenario without a file, `--set` for the others, a seed, and a launch command.
local function divided(given, has_file)
  local reader, whole, options = Reader.new "overrides", {}, { set = texts(given.set) }
  local is_option = { set = true, command = true, seed = has_file }
  if has_file and given.seed ~= nil then options.seed = core.whole(given.seed, "seed") end
  if given.command ~= nil then
    options.command = { text = core.text(given.command, "command"), engine = given.engine, model = given.model }
    is_option.engine, is_option.model = true, true
  end
  for key, value in core.sorted_pairs(given) do
    if not is_option[key] then
      if has_file or key:find(".", 1, true) then
        options.set[#options.set + 1] = key .. "=" .. json.encode(value)
      else
        whole[key] = stated_policies.of(reader, key, value)
      end
    end
  end
  return whole, options
end

--- The opened scenario (runs/opening.lua).
---@param path string? of its file; nil: the overrides are all of it
---@param given table by key, as --set has them; set = texts as --set takes them; command = that of a launch
---@param kind string that a scenario without a file has where it states none
function overrides.open(path, given, kind)
  local whole, options = divided(given, path ~= nil)
  if path then return opening.file(path, options) end
  whole.kind = whole.kind or kind
  if whole.kind == "price" and whole.price == nil then whole.price = any_batch end
  options.file = "overrides"
  return opening.table(whole, options)
end

--- The table of its one variant.
---@param who string what there is one of: "a pricer prices one"
function overrides.one_variant(opened, who)
  if #opened.variants ~= 1 then
    opened.reader:fail("vary", "gives %d variants, and %s: override it, as in {\"vary\": {}}", #opened.variants, who)
  end
  return (opening.variant(opened, 1))
end

return overrides
