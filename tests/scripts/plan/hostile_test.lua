-- Names of models, GPUs and candidates that would be commands in the files of a plan. The files are executed with
-- stand-ins for the engines, and whatever they touch is seen; the manifests are read by a reader of YAML.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local artefacts = require "rooflua.plan.artefacts"
local json = require "rooflua.json"
local opening = require "rooflua.runs.opening"
local quoting = require "rooflua.text.quoting"

local touch = "touch PWNED"
local hostile = { "nice}; " .. touch .. "; : ${x", "nice $(" .. touch .. ")", "`" .. touch .. "`",
  "a'; " .. touch .. "; '", 'a"; ' .. touch .. '; "', "L\n" .. touch .. " #", "x | " .. touch .. " & #: -",
  "-rf --help; " .. touch, "{a: [b, *c, &d]} !!x %y: - z", "\230\151\165\226\128\168\194\133\239\187\191\195\169",
  "END\n" .. touch .. "\nEND", "a\r\n" .. touch .. "\r\n", "]] " .. touch .. " --[[\n" .. touch,
  "<script>alert('x')</script>", "\\n\\$(" .. touch .. ")\\", "null", "~", "1e3", "0x10", "- true", ("long-"):rep(30),
  "\27[31m" .. touch .. "\7", "$$(" .. touch .. ") $(MODEL)", "!" .. touch, "*", "%s %d %n" }

local engines = { "vllm", "sglang", "trtllm" }

--- A folder with commands that write their arguments to the file `args` where they stand, each ended by a zero byte.
local function stand_ins()
  local folder = test.file "bin"
  os.execute("mkdir -p " .. folder)
  for _, name in ipairs { "vllm", "python", "trtllm-serve" } do
    local out = assert(io.open(folder .. "/" .. name, "w"))
    out:write "#!/bin/sh\nfor each; do printf '%s\\0' \"$each\"; done > args\n"
    out:close()
  end
  os.execute("chmod +x " .. folder .. "/*")
  return folder
end

local bin = stand_ins()

local function written(files)
  local folder = test.file "plan"
  os.execute("mkdir -p " .. folder)
  for _, each in ipairs(files) do
    local out = assert(io.open(folder .. "/" .. each.path:gsub("^1/", ""), "w"))
    out:write(each.text)
    out:close()
  end
  return folder
end

local function lines_of(command)
  local pipe, out = assert(io.popen(command)), {}
  for line in pipe:lines() do out[#out + 1] = line end
  pipe:close()
  return out
end

--- Runs a script of a folder; returns the arguments of the engine, nil where none was started.
local function started(folder, script, environment)
  os.remove(folder .. "/args")
  os.execute(("cd %s && env PATH=%s:$PATH BASE_URL=http://x %s bash ./%s > /dev/null 2>&1"):format(folder, bin,
    environment, script))
  local handle = io.open(folder .. "/args")
  if not handle then return nil end
  local out = {}
  for word in handle:read("*a"):gmatch "([^%z]*)%z" do out[#out + 1] = word end
  handle:close()
  os.remove(folder .. "/args")
  return out
end

local known = { ["README"] = true, ["bench.sh"] = true, ["kubernetes.yaml"] = true, ["options.yaml"] = true,
  ["scenario.lua"] = true, ["serve.sh"] = true }

local function check_untouched(folder, text)
  for _, name in ipairs(lines_of("ls -A " .. folder)) do
    test.check(known[name], "%s made the file %s", quoting.line(text), name)
  end
end

local function has(list, word)
  for _, each in ipairs(list) do
    if each == word then return true end
  end
  return false
end

--- A plan whose names are all `text`, and its files.
local function plan_of(text, engine, model, more)
  local plan = { ranks = 1, gpus = { { "h100-sxm", most = 16, price_per_hour = 3, label = text } },
    candidates = require "candidates.listed" { list = { { tp = 2, max_num_seqs = 32, max_num_batched_tokens = 1024,
      engine = engine, label = text, split = more and more.split } } } }
  local done = setup.report(plan, { model = model or { from = "llama-3.1-8b", name = text } })
  return done, artefacts.files(done)
end

local function text_of(files, path)
  for _, each in ipairs(files) do
    if each.path == path then return each.text end
  end
end

local manifests = {}

test("no name of a model, a GPU or a candidate is a command in any file", function()
  for i, text in ipairs(hostile) do
    local _, files = plan_of(text, engines[i % #engines + 1])
    local folder = written(files)
    test.equal(started(folder, "serve.sh", "ROLE=decode"), nil, "without MODEL: " .. quoting.line(text))
    for _, model in ipairs { "my/model", "a b$(" .. touch .. ")" } do
      for _, script in ipairs { "serve.sh", "bench.sh" } do
        local words = started(folder, script, "MODEL=" .. quoting.shell(model))
        test.check(words ~= nil and has(words, model), "%s started nothing for %s", script, quoting.line(text))
      end
    end
    test.check(opening.file(folder .. "/scenario.lua").given.model.name == text, "the model has another name")
    check_untouched(folder, text)
    manifests[#manifests + 1] = { path = folder .. "/kubernetes.yaml", word = "$(MODEL)" }
  end
end)

test("an alias is the checkpoint only if it can be the name of a repository", function()
  local head, tail = io.open "scenarios/models/llama-3.1-8b.toml":read "*a":match "^(.-aliases = %[)(.*)$"
  for i, text in ipairs { "a/b$(" .. touch .. ")", "a/b\"; " .. touch .. "; \"", "-x/y", "a/b c", "../y",
    "a/b\n" .. touch, "mine/model-1.0_x" } do
    local path = test.file(("m$(%s)'%d.toml"):format(touch, i), head .. json.encode(text) .. "," .. tail)
    local _, files = plan_of("G", engines[i % #engines + 1], path)
    local folder = written(files)
    local words = started(folder, "serve.sh", "")
    test.check(has(words, i == 7 and text or "meta-llama/Llama-3.1-8B"), "another checkpoint: %s",
      table.concat(words, " "))
    test.equal(opening.file(folder .. "/scenario.lua").given.model, path)
    check_untouched(folder, text)
  end
end)

test("the parts of a split deployment are told apart where names are cut", function()
  local _, files = plan_of(("long-"):rep(30), "vllm", nil, { split = { prefill = 1, decode = 1 } })
  local folder = written(files)
  for role, kind in pairs { prefill = "kv_producer", decode = "kv_consumer" } do
    local words = started(folder, "serve.sh", "MODEL=m ROLE=" .. role)
    test.check(has(words, ('{"kv_connector":"NixlConnector","kv_role":"%s"}'):format(kind)), "no %s", kind)
  end
  local text = text_of(files, "1/kubernetes.yaml")
  test.check(text:find "%-prefill'\n" and text:find "%-decode'\n", "no roles")
  manifests[#manifests + 1] = { path = folder .. "/kubernetes.yaml", word = "$(MODEL)" }
end)

local reader = [[
import json, re, sys, yaml
def names(value):
    if isinstance(value, dict):
        for key, each in value.items():
            if key in ("name", "app") and each != "MODEL": yield each
            yield from names(each)
    elif isinstance(value, list):
        for each in value: yield from names(each)
for path, word in json.load(open(sys.argv[1])):
    for part in yaml.safe_load_all(open(path, encoding="utf-8")):
        assert set(part) <= {"apiVersion", "kind", "metadata", "spec", "data"}, part
        for name in names(part):
            assert isinstance(name, str) and re.fullmatch("[a-z]([-a-z0-9]{0,61}[a-z0-9])?", name), (path, name)
        if part["kind"] == "Deployment":
            one = part["spec"]["template"]["spec"]["containers"][0]
            assert word in one["args"], (path, one["args"])
            assert all(isinstance(each, str) for each in one["args"] + one["command"])
]]

test("a reader of YAML finds the words of the command and names that Kubernetes takes", function()
  if os.execute "python3 -c 'import yaml' 2> /dev/null" == 0 then
    local list = json.array {}
    for i, each in ipairs(manifests) do list[i] = json.array { each.path, each.word } end
    local script, asked = test.file("reader.py", reader), test.file("list.json", json.encode(list))
    local log = test.file "log"
    test.check(os.execute(("python3 %s %s > %s 2>&1"):format(script, asked, log)) == 0, "%s",
      table.concat(lines_of("tail -3 " .. log), "\n"))
  else -- without a reader: every argument is one scalar in quotes, and every name a label of DNS
    for _, each in ipairs(manifests) do
      for line in io.lines(each.path) do
        local scalar = line:match "^        %- ([^{].*)$"
        local quoted = scalar and (scalar:find "^'[^']*'$" or scalar:find "''" or scalar:find '^".*"$')
        test.check(not scalar or quoted or scalar:find "^containerPort: %d+$", "%s", line)
        local name = line:match "^  name: (.*)$"
        test.check(not name or #name <= 65 and name:find "^'[a-z][a-z0-9-]*[a-z0-9]'$", "%s", line)
      end
    end
  end
end)

test("a block of YAML is the text of the file, whatever it begins and ends with", function()
  if os.execute "python3 -c 'import yaml' 2> /dev/null" ~= 0 then return end
  local texts = { "  a\n b\n", "a", "a\n", "a\n\n\n", "\n", "", "\n\n  a: |\n", "# c\n\tx\n", "---\na: 1\n...\n",
    "a\r\nb\r\n", "\194\133", "%y\n", "\226\128\168\n" }
  local lines, list = {}, json.array {}
  for i, each in ipairs(texts) do
    lines[i], list[i] = ("  f%d: %s"):format(i, quoting.yaml_block(each, 4)), each
  end
  local given = test.file("blocks.yaml", "data:\n" .. table.concat(lines, "\n") .. "\nend: 1\n")
  local program = test.file("blocks.py", [[
import json, sys, yaml
data = yaml.safe_load(open(sys.argv[1], encoding="utf-8", newline=""))["data"]
for i, text in enumerate(json.load(open(sys.argv[2], encoding="utf-8"))):
    assert data["f%d" % (i + 1)] == text, (i + 1, text, data["f%d" % (i + 1)])
]])
  test.equal(os.execute(("python3 %s %s %s"):format(program, given, test.file("texts.json", json.encode(list)))), 0)
  test.equal(quoting.yaml_block("a\255", 4), nil)
end)

test.finish()
