-- Which engine a command starts, and what stands in front of it: variables, a Python interpreter, a container.
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local release = require "rooflua.engines.release"

local start = {}

local function shown(words, first, last)
  local out = {}
  for i = first, last do out[#out + 1] = words[i] end
  return native.printable(core.join(out, " "))
end

--- Words in front of an engine's command that change nothing here.
local harmless = { exec = true, env = true, nohup = true, sudo = true, time = true, command = true, uv = true,
  run = true, ["-u"] = true, ["trtllm-llmapi-launch"] = true }

local function is_harmless(word)
  local name = word:match "([^/]*)$"
  return harmless[name] or name:find "^python[%d.]*$" ~= nil
end

--- Whether `words` has a start, "vllm serve", at a place. Returns the place after it.
local function starts_at(words, at, begin)
  local first = true
  for part in begin:gmatch "%S+" do
    local word = words[at]
    if not word or (first and word:match "([^/]*)$" or word) ~= part then return nil end
    at, first = at + 1, false
  end
  return at
end

local longest_image = 512 -- bytes

--- The engine of an image, "registry/vllm/vllm-openai:v0.19.0", and its release; nil where no engine has this image.
function start.of_image(image)
  local rest = #image <= longest_image and image:gsub("@.*$", "") or nil
  while rest do
    for _, engine in ipairs(catalogue.saying "starts") do
      local name, tag = engine.image:match "^([^:]+):(.*)$"
      local found = rest:match("^" .. name:gsub("%p", "%%%0") .. "%f[:%z](.*)$")
      if found then
        local version = found:match("^:" .. tag:gsub("%%s", "(.+)") .. "$")
        if version and not release.parse(version) then version = version:match "^[^%-]+" end -- 0.5.9-cu126
        return engine, version and release.parse(version) and version or nil
      end
    end
    rest = rest:match "^[^/]*/(.*)$"
  end
end

--- The engine of an image that a container runs, the places behind it and in front, and its release.
local function of_container(words)
  local program = (words[1] or ""):match "([^/]*)$"
  if program ~= "docker" and program ~= "podman" then return nil end
  for at = 2, #words do
    local engine, version = start.of_image(words[at])
    if engine then return engine, at + 1, at, version end
  end
end

--- {engine, behind (the place behind its command), front (that in front of it), release} of words.
function start.of(words)
  local engines, best = catalogue.saying "starts", nil
  for at = 1, #words do
    for _, engine in ipairs(engines) do
      for _, each in ipairs(engine.starts) do
        local behind = starts_at(words, at, each)
        if behind and (not best or behind > best.behind) then
          best = { engine = engine, behind = behind, front = at - 1, release = nil }
        end
      end
    end
    if best then break end
  end
  local engine, behind, at, version = of_container(words)
  if not best and engine then return { engine = engine, behind = behind, front = at, release = version } end
  if best then
    if engine == best.engine then best.release = version end
    return best
  end
  local known = {}
  for _, each in ipairs(engines) do known[#known + 1] = each.command end
  core.fail("%s: starts no engine that is known (%s)", core.describe(shown(words, 1, math.min(#words, 4))),
    core.join(known, ", "))
end

--- Whether words start an engine.
function start.is_one(words) return (pcall(start.of, words)) end

--- Texts that are no command of a shell: {pattern of a line, what it is, what to give in its place}.
local forms = {
  { "\nservices:%s", "a compose file", "--from FILE, or the command of its service" },
  { "\n%s+image:%s", "a compose file", "--from FILE, or the command of its service" },
  { "\napiVersion:%s", "a manifest of Kubernetes", "--from FILE, or the command of its container" },
  { "\nFROM%s", "a Dockerfile", "its ENTRYPOINT and CMD as one command" },
  { "\n%[Service%]", "a unit of systemd", "what stands after ExecStart=" },
  { "\n%s*{%s*\n", "a document of JSON", "the command itself" },
}

--- Refuses a text that is no command of a shell by what it is.
function start.check_form(text)
  local lines = "\n" .. text:gsub("\r", "") .. "\n"
  local first = lines:gsub("\n%s*#[^\n]*", "\n"):match "%S+" or ""
  for _, form in ipairs(forms) do
    local is_document = first:find ":$" or first:find "^[%[{]" or first == "FROM" or first == "---"
    if is_document and lines:find(form[1]) then core.fail("this is %s; give %s", form[2], form[3]) end
  end
end

--- Variables that words in front set: env NAME=VALUE, docker run -e NAME=VALUE. Adds a sentence about other words.
function start.read_front(words, last, state)
  local left_out = false
  for i = 1, last do
    local before, word = words[i - 1], words[i]
    local name, value = word:match "^([%a_][%w_]*)=(.*)$"
    if not name then name, value = word:match "^%-%-env=([%a_][%w_]*)=(.*)$" end
    if not name then name, value = word:match "^%-e([%a_][%w_]*)=(.*)$" end
    local is_set = name and (i == 1 or before == "-e" or before == "--env" or word:find "^%-" or not left_out)
    if is_set then
      state.environment[#state.environment + 1] = { name, value }
    elseif not is_harmless(word) then
      left_out = true
    end
  end
  if left_out then
    state.told[#state.told + 1] = ("in front of the engine's command, not read: %s ..."):format(shown(words, 1, 1))
  end
end

return start
