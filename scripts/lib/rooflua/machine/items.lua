-- Images, sounds and videos of requests as tokens of their prompts. A workload says their sizes; the processor of the
-- model says how many tokens each has. The engine gets them as parts of a prompt's content, {identity, tokens, kind}.
--
-- An item with an `id` is the same item wherever it comes: caches find it. One without is like no other.
local core = require "rooflua.base.core"
local encoder = require "rooflua.machine.encoder"

local items = {}

local FIRST, OWN, SIZES = 2 ^ 52, 2 ^ 51, 4096 -- contents of items are above those of a workload's texts
-- `at`: tokens of text in front of the items; `counted`: the prompt's tokens are with those of its items (traces), at
-- the place `where` of a file
local groups = { "images", "video", "audio_s", "at", "counted", "where" }

local function wrong(message, ...) error("workload: items: " .. message:format(...), 0) end

--- The kinds of items that have been seen: their number in the engine.
local function number_of(self, key, size)
  local number = self.numbers[key]
  if number then return number end
  local kind = encoder.item(self.description, size)
  number = #self.kinds + 1
  self.kinds[number], self.numbers[key], self.keys[number], self.sizes[number] = kind, number, key, size
  return number
end

local function segment_of(self, key, size, id)
  local number = number_of(self, key, size)
  self.uses[number] = (self.uses[number] or 0) + 1
  local content
  if id == nil then
    self.count = self.count + 1
    content = FIRST + OWN + self.count
  else
    self.comes_again = true
    if number >= SIZES then wrong("items with an id have more than %d kinds and sizes", SIZES - 1) end
    content = FIRST + (core.whole(id, "workload: items: id", 0) * SIZES + number) % OWN
  end
  return { content, self.kinds[number].tokens, number }
end

--- A list of tables, or the table that stands for a list of one.
local function list_of(value, what)
  if value == nil then return {} end
  if type(value) == "number" then return { { seconds = value } } end
  if type(value) ~= "table" then wrong("%s: expected a list, found %s", what, core.describe(value)) end
  local is_one = value.width ~= nil or value.frames ~= nil or value.seconds ~= nil
    or type(value[1]) == "number" and what == "images"
  return is_one and { value } or value
end

local function size(value, what)
  if type(value) ~= "number" or not (value > 0) then
    wrong("%s: expected a number above 0, found %s", what, core.describe(value))
  end
  return value
end

local keys_of = { images = { "width", "height", "id", 1, 2 }, video = { "frames", "width", "height", "id" },
  audio_s = { "seconds", "id" } }

--- Refuses what nothing reads of an item.
local function check_item(item, group)
  if type(item) ~= "table" then
    if group ~= "audio_s" then wrong("%s: expected a table, found %s", group, core.describe(item)) end
    return
  end
  for key in pairs(item) do
    if not core.is_among(key, keys_of[group]) then wrong("%s: nothing reads %s", group, tostring(key)) end
  end
end

--- The items of a request as content: {identity, tokens, kind} of each, in the order in which they stand.
local function content_of(self, given)
  local out = {}
  core.check_keys(given, groups, "workload: items", "key")
  for group in pairs(keys_of) do
    for _, item in ipairs(list_of(given[group], group)) do check_item(item, group) end
  end
  for _, image in ipairs(list_of(given.images, "images")) do
    local width = size(image.width or image[1], "images: width")
    local height = size(image.height or image[2], "images: height")
    out[#out + 1] = segment_of(self, ("image %d x %d"):format(width, height),
      { width = width, height = height }, image.id)
  end
  for _, video in ipairs(list_of(given.video, "video")) do
    local frames = size(video.frames, "video: frames")
    local width, height = size(video.width, "video: width"), size(video.height, "video: height")
    out[#out + 1] = segment_of(self, ("video %d x %d x %d"):format(frames, width, height),
      { frames = frames, width = width, height = height }, video.id)
  end
  for _, sound in ipairs(list_of(given.audio_s, "audio_s")) do
    local seconds = size(type(sound) == "table" and sound.seconds or sound, "audio_s")
    out[#out + 1] = segment_of(self, ("audio %.6g"):format(seconds),
      { seconds = seconds }, type(sound) == "table" and sound.id or nil)
  end
  return out
end

--- The content of a prompt with its items behind so many tokens of text, or behind the part of the text with an
--- identity that goes on there.
local function merged(text, list, at)
  local out, place = {}, 0
  local function put()
    for _, each in ipairs(list) do out[#out + 1] = each end
    list = {}
  end
  for _, part in ipairs(text) do
    local left = at - place
    if left <= 0 then put() end
    if part[1] == 0 and left > 0 and left < part[2] then
      out[#out + 1] = { 0, left }
      put()
      out[#out + 1] = { 0, part[2] - left }
    else
      out[#out + 1] = part
    end
    place = place + part[2]
  end
  put()
  return out
end

--- The first tokens of a content.
local function cut(text, tokens)
  local out = {}
  for _, part in ipairs(text) do
    local own = math.min(part[2], tokens)
    if own > 0 then out[#out + 1] = { part[1], own, part[3] } end
    tokens = tokens - own
  end
  return out
end

--- content_of, whose errors name the line of a trace.
local function counted_of(self, given)
  if not given.where then return content_of(self, given) end
  local ok, found = pcall(content_of, self, given)
  if not ok then error(("%s: %s"):format(given.where, tostring(found):gsub("^workload: ", "")), 0) end
  return found
end

--- A request whose items are tokens of its prompt.
local function sized(self, at_s, prompt, output, fields)
  local given = type(fields) == "table" and fields.items
  if not given then return at_s, prompt, output, fields end
  local list, added = counted_of(self, core.table(given, "workload: items")), 0
  for _, each in ipairs(list) do added = added + each[2] end
  local copy = core.copy(fields)
  copy.items = nil
  if given.counted then
    if added > prompt then
      core.fail("%s: its items have %d tokens, more than the %d of its prompt", given.where or "workload", added,
        prompt)
    end
    prompt = prompt - added
    copy.content = fields.content and cut(fields.content, prompt)
  end
  if added > 0 then
    copy.content = merged(copy.content or prompt > 0 and { { 0, prompt } } or {}, list, given.at or 0)
  end
  return at_s, prompt + added, output, copy
end

local function sized_after(self, at_s, ...)
  if type(at_s) ~= "table" then return sized(self, at_s, ...) end
  local out = {}
  for i, each in ipairs(at_s) do out[i] = { sized(self, each[1], each[2], each[3], each[4]) } end
  return out
end

--- A workload's requests with items as the engine takes them.
function items.with_tokens(self, source)
  return setmetatable({ shares_content = true,
    next = function() return sized(self, source:next()) end,
    done = source.done and function(_, ...) return sized_after(self, source:done(...)) end or nil,
    more = source.more and function() return sized(self, source:more()) end or nil,
    cancels = source.cancels and function() return source:cancels() end or nil }, { __index = source })
end

--- Whether requests have items: those of a table with `sends_items`.
---@param source any what a workload's requests(rng) returned
function items.are_in(source) return type(source) == "table" and source.sends_items == true end

--- The requests of a workload as runs have them, with the tokens of items in their prompts, and what remembers the
--- items: its `comes_again` says whether an item has an id. Requests without items are left as they are.
function items.counted(source, model)
  if not items.are_in(source) then return source end
  local description = encoder.of(model)
  if not description then
    core.fail("workload: sends images, sounds or videos, and %s has no encoder whose layers are described", model.name)
  end
  local self = items.begin({}, description)
  return items.with_tokens(self, source), self
end

--- Tokens of an image, a video or a sound of such a size, as workloads declare it.
function items.tokens(model, given)
  return encoder.item(encoder.of(model), { width = given.width, height = given.height, frames = given.frames,
    seconds = given.seconds }).tokens
end

--- What remembers kinds of items: {description, kinds, numbers, keys, sizes, uses, count}. `self` may be any table.
---@param description table of rooflua.machine.encoder
function items.begin(self, description)
  self.description, self.kinds, self.numbers, self.keys, self.sizes, self.count = description, {}, {}, {}, {}, 0
  self.uses = {} -- how often each kind was sent
  return self
end

return items
