-- The flags of an engine: which option a word of a command means, and whether it says the opposite.
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local native = require "rooflua.native"

local spelling = {}

--- A flag as they are compared: "-" for "_", up to the first dot.
local function folded(flag)
  local name, rest = flag:match "^([^.]*)(.*)$"
  return name:sub(1, 2) == "--" and "--" .. name:sub(3):gsub("_", "-") .. rest or flag
end

--- {word = {option, opposite}} of all flags, and their sorted list.
local function made(engine)
  local by_word, list = {}, {}
  local function add(word, entry)
    word = folded(word)
    if not by_word[word] then list[#list + 1] = word end
    by_word[word] = entry
  end
  for _, option in ipairs(engine.options) do
    local spelled = { option.flag }
    for _, other in ipairs(option.also or {}) do
      if other:sub(1, 1) == "-" then spelled[#spelled + 1] = other end
    end
    for _, word in ipairs(spelled) do
      add(word, { option = option })
      if option.negates and word:sub(1, 2) == "--" then
        add("--no-" .. word:sub(3), { option = option, opposite = true })
      end
    end
  end
  for _, word in ipairs(engine.model_flags or {}) do add(word, { is_model = true }) end
  table.sort(list)
  return { by_word = by_word, list = list }
end

local by_engine = setmetatable({}, { __mode = "k" })

local function of(engine)
  by_engine[engine] = by_engine[engine] or made(engine)
  return by_engine[engine]
end

local most_named = 6

--- "; did you mean --max-num-seqs?"; "" where nothing is near.
function spelling.near(word, known)
  local long = {}
  for _, each in ipairs(known) do
    if #each > 2 then long[#long + 1] = each end
  end
  local near = native.suggestions(word, long)
  return #near > 0 and "; did you mean " .. core.join(near, ", ") .. "?" or ""
end

--- What a flag means: {option, opposite} or {is_model}; of `--speculative-config.method` also the path after the flag.
--- An unknown flag is an error with its neighbours.
--- @param word string the flag as it was written, without "=VALUE"
function spelling.find(engine, word)
  local known, asked = of(engine), folded(word)
  local entry = known.by_word[asked]
  if entry then return entry end
  local flag, path = asked:match "^(%-%-?[^.]+)%.(.+)$"
  local parent = flag and known.by_word[flag]
  if parent and parent.option and parent.option.type == "json" then return { option = parent.option, path = path } end
  local found, names = nil, {}
  if engine.abbreviates and asked:sub(1, 2) == "--" and #asked > 2 then
    for _, each in ipairs(known.list) do
      if each:sub(1, #asked) == asked then
        local other = known.by_word[each]
        if not found or found.option ~= other.option or found.opposite ~= other.opposite then
          names[#names + 1] = each
        end
        found = other
      end
    end
  end
  if #names == 1 then return found end
  if #names > 1 then
    core.fail("%s: fits several flags of %s: %s", word, engine.title,
      core.join(names, ", ", 1, math.min(#names, most_named)) .. (#names > most_named and ", ..." or ""))
  end
  return core.fail("%s: %s has no such flag%s (help engines.%s lists them)", word, engine.title,
    spelling.near(asked, known.list), catalogue.root(engine).name)
end

--- How an option is called in messages: its flag, else its name.
function spelling.name(option) return option.flag or option.name end

return spelling
