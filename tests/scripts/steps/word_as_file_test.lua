-- Taking a kind's word away and keeping its file: shipped models whose windows are a file give the bytes of a run's
-- document and of the report on a request that they give with the word `window`, of which C++ knows all.
local test = dofile "tests/scripts/harness.lua"
local spec = require "rooflua.spec"

local folder = test.folder()

--- The file of the kind `chunk`, with windows in place of chunks: what the word `window` means.
local function file_of_windows()
  local handle = assert(io.open(require("rooflua.native").home .. "/scripts/layers/attention/chunk.lua"))
  local text = handle:read "*a"
  handle:close()
  local found
  text, found = text:gsub("{ chunk = p%.chunk }", "{ window = p.chunk }")
  test.equal(found, 1)
  return text
end

local function write(name, text)
  local handle = assert(io.open(folder .. "/" .. name, "w"))
  handle:write(text)
  handle:close()
end

--- A scenario of a shipped model, with its windows as the word says them or as the file does.
local function scenario(model, as_file)
  local groups = {}
  for _, each in ipairs(spec.model(model).attention) do
    local group = { "layers = " .. each.layers, "kv_heads = " .. each.kv_heads, "head_dim = " .. each.head_dim }
    local is_window = each.kind == "window"
    if is_window then group[#group + 1] = (as_file and "chunk" or "window") .. " = " .. each.window end
    group[#group + 1] = ("kind = %q"):format(is_window and as_file and "own_window" or each.kind)
    groups[#groups + 1] = "{ " .. table.concat(group, ", ") .. " }"
  end
  return ([[
return { rooflua = 1, title = "windows", seed = 1, hardware = "h200-sxm", engine = "vllm 0.24", intervals = "off",
  model = { from = "%s", attention = { %s } },
  workload = require "workloads.poisson" { rate_per_s = 8, num_requests = 60, prompt_tokens = 1500,
    output_tokens = 60 } }
]]):format(model, table.concat(groups, ", "))
end

local function output(line)
  local text = test.printed(line, folder)
  return (text:gsub("own_window", "window"):gsub('"parameters": %b{},?%s*', ""))
end

--- The first line in which two texts differ, of both.
local function difference(a, b)
  if a == b then return nil end
  local lines = b:gmatch "[^\n]*"
  for line in a:gmatch "[^\n]*" do
    local other = lines()
    if line ~= other then return line .. "\n" .. tostring(other) end
  end
  return "one is longer"
end

os.execute(("mkdir -p '%s/layers/attention'"):format(folder))
write("layers/attention/own_window.lua", file_of_windows())

test("windows of shipped models as a file: the bytes of the word", function()
  for _, model in ipairs { "gemma-3-12b", "gpt-oss-20b" } do
    write("word.lua", scenario(model, false))
    write("file.lua", scenario(model, true))
    for _, command in ipairs { "run %s --quiet --json -", "run %s --quiet --why 5" } do
      local word, file = output(command:format "word.lua"), output(command:format "file.lua")
      test.check(#word > 500, "%s: %s", command, word)
      test.equal(difference((file:gsub("file%.lua", "word.lua")), word), nil, model .. ": " .. command)
    end
  end
end)

test.finish()
