-- Manifests that are changed at random: nothing crashes or hangs, every value is accounted for, what is read stands in
-- the text, and no secret is shown. ROOFLUA_MUTATIONS=all: 5,000 of each form; else a few.
local test = dofile "tests/scripts/harness.lua"
local catalogue = require "rooflua.engines.catalogue"
local deployment = require "rooflua.startup.deployment"
local files = require "rooflua.program.files"
local forms = require "rooflua.manifests.forms"
local json = require "rooflua.json"
local mutation = dofile "tests/scripts/startup/mutation.lua"
local native = require "rooflua.native"
local written = require "rooflua.program.manifests"

local count = os.getenv "ROOFLUA_MUTATIONS" == "all" and 5000 or 120
local longest_s = 2
local secret = "TOPSECRET123"

local pieces = { "[", "{", "}", "'", '"', "\\", "&a ", "*a", "<<: ", "- ", ": ", "#", "|\n", "\t", "\0", "{{ .X }}",
  "$X", "${X:-7}", "$(Y)", "`date`", "$$", "\n---\n", "!!binary ", "~", "null", "1e999", "99999999999999999999",
  "replicas: 3\n", ("["):rep(100), ("{a: "):rep(90), ("- "):rep(200), "\255\254", "\30", "\31", "sh -c ",
  "--tensor-parallel-size 2 ", "<<EOF\n", "| ", "&& ", "> x ", "\nEOF\n", "if [ a ]; then\n", ("x"):rep(5000),
  "--model Other/Model " }

--- A split cluster, with a secret among its options.
local function base(form, name)
  local engine = catalogue.of(name)
  local function part(role, more)
    local options = name == "trtllm" and { ["kv_cache_config.dtype"] = "fp8", max_batch_size = 61 }
      or name == "sglang" and { max_running_requests = 61, context_length = 8192 }
      or { max_num_seqs = 61, max_model_len = 8192, api_key = { secret }, kv_cache_dtype = "fp8" }
    for key, value in pairs(more) do options[key] = value end
    return { engine = engine, release = ({ vllm = "0.24.0", sglang = "0.5.9", trtllm = "1.2.0" })[name],
      model = "Qwen/Qwen3-8B", options = options, count = 5, gpus = 1, nodes = 1, role = role }
  end
  local more = name == "vllm" and { max_num_batched_tokens = 4099 } or {}
  local own = { parts = { part("prefill", {}), part("decode", more) },
    gpu = "h100-sxm" }
  local ok, text = pcall(written.text, form, own, "cluster")
  return ok and text or nil
end

--- Whether a plain value stands in a text.
local function stands_in(value, text)
  if type(value) == "boolean" or type(value) == "string" and #value == 0 then return true end
  if type(value) == "number" then
    if text:find "%d[kKmMgGtT]" then return true end -- 32k
    for word in text:gmatch "%d+%.?%d*[eE]?[+-]?%d*" do
      if tonumber(word) == value or tonumber(word:match "%d+%.?%d*") == value then return true end
    end
    return false
  end
  local plain = text:gsub("[\n\\'\"]%s*", "")
  return text:find(value, 1, true) ~= nil or plain:find(value:gsub("[\n\\'\"]%s*", ""), 1, true) ~= nil
    or value:find "[^%w./_-]" ~= nil -- what quotes and escapes stand for
end

local function check_engine(each, text, what)
  for name, value in pairs(each.options) do
    for _, one in ipairs(type(value) == "table" and value or { value }) do
      local is_document = type(one) == "string" and one:find "^[%[{]"
      test.check(is_document or one == "***" or stands_in(one, text), "%s: %s = %s does not stand in it:\n%s", what,
        name, tostring(one), text)
    end
  end
  test.check(not each.model or stands_in(each.model, text), "%s: the model %s does not stand in it", what, each.model)
  local is_newest = not each.is_stated
  test.check(is_newest or text:find(each.release, 1, true) or each.note, "%s: %s %s does not stand in it", what,
    each.engine.name, each.release)
end

local function holds(path, text, what, is_listed)
  local before = os.clock()
  local handle = assert(io.open(path, "wb"))
  handle:write(text)
  handle:close()
  local ok, record = pcall(forms.record, path, text, true)
  test.check(ok or mutation.is_clean(record), "%s: %s\n%s", what, tostring(record), text)
  if ok and record then
    test.equal(record.understood + record.not_understood + record.later, record.count, what)
  end
  local is_read, found = pcall(deployment.of, { from = { path } })
  test.check(is_read or mutation.is_clean(found), "%s: %s\n%s", what, tostring(found), text)
  if is_read and found.cluster then
    for _, each in ipairs(found.cluster.engines) do check_engine(each, text, what) end
  end
  local shown = is_read and table.concat(found.told, "\n") or tostring(found)
  if is_listed then
    local listed, answer = pcall(files.run, { path }, true, true)
    test.check(listed, "%s: files: %s", what, tostring(answer))
    shown = shown .. native.printable(answer.text) .. json.encode(answer.document)
  end
  local leak = shown:match("[^\n]*%-%-api%-key[ =]+" .. secret .. "[^\n]*")
  test.check(not leak, "%s: a secret is shown: %s", what, leak)
  test.check(os.clock() - before < longest_s, "%s: took %.1f s", what, os.clock() - before)
end

for _, form in ipairs(forms.names) do
  test(("%s: %d mutations are read, refused or accounted for"):format(form, count), function()
    test.needs_yaml()
    local path, texts = test.file("manifest", ""), {}
    for _, name in ipairs { "vllm", "sglang", "trtllm" } do texts[#texts + 1] = base(form, name) end
    test.at_least(#texts, 2)
    for i, text in ipairs(texts) do holds(path, text, form .. " as it is " .. i, true) end
    for i = 1, count do
      holds(path, mutation.mutated(texts[1 + i % #texts], pieces), ("%s, mutation %d"):format(form, i), i % 4 == 0)
    end
  end)
end

test("texts that are made to take long do not", function()
  test.needs_yaml()
  local pod = "apiVersion: v1\nkind: Pod\nspec: {containers: [{image: '%s', args: [--model, a/b, '%s']}]}\n"
  local script = "#!/bin/sh\nvllm serve a/b --served-model-name %s\n"
  local path = test.file("manifest", "")
  for i, text in ipairs { pod:format("vllm/vllm-openai", ("{{"):rep(1000000)), pod:format(("/"):rep(2000000), "x"),
    pod:format("vllm/vllm-openai", ("$("):rep(60000)), pod:format("vllm/vllm-openai", ("{{a"):rep(40000) .. "}}"),
    "services:\n  a: {image: vllm/vllm-openai, command: '" .. ("${"):rep(60000) .. "'}\n",
    script:format(("$("):rep(60000)), script:format(("$X "):rep(40000)), script:format(("` "):rep(60000)),
    script:format("x\n" .. ("cat <<A > f\n"):rep(9000)), script:format(("'\n"):rep(50000)),
    script:format(("x\nvllm serve a/b"):rep(7000)), "apiVersion: v1\nkind: Pod\nx: " .. ("["):rep(100000),
    "apiVersion: v1\nkind: Pod\nx:\n" .. ("- 1\n"):rep(90000) } do
    local before, handle = os.clock(), assert(io.open(path, "wb"))
    handle:write(text)
    handle:close()
    local ok, problem = pcall(deployment.of, { from = { path } })
    test.check(ok or mutation.is_clean(problem), "%d: %s", i, tostring(problem))
    test.check(os.clock() - before < 10, "%d: took %.1f s", i, os.clock() - before)
  end
end)

test.finish()
