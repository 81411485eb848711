-- The harness of measured sets: which files of a folder are sets, indices and results of cases over several sets,
-- options that not every set can use, cases that fail. The kinds are made up, then the program's own.
local test = dofile "tests/scripts/harness.lua"
local chunks = require "rooflua.sandbox.chunks"

local harness = chunks.require "rooflua.validate.harness"
local columns = chunks.require "rooflua.validate.columns"
local sets = chunks.require "rooflua.validate.sets"
local validate = chunks.require "rooflua.validate.command"
local json = chunks.require "rooflua.json"
local native = chunks.require "rooflua.native"

--- A kind whose files have the columns `id` and `NAME_ms`. A case doubles its figure; "bad" is an error.
local function kind_of(name, refuses, more)
  local kind = { name = name, what = "measured " .. name, columns = { "id", name .. "_ms" }, opened = {},
    scopes = { [name] = true } }
  kind.reads = columns.of({}, { { names = table.concat(kind.columns, " "), tells = true } }).reads
  function kind.refusals() return refuses or {} end
  function kind.open(options)
    kind.opened[#kind.opened + 1] = options
    local rows, run = native.csv_read(options.path, true), { ids = {} }
    for i, row in ipairs(rows) do run.ids[i] = tostring(row.id) end
    function run:case(i, scratch)
      if rows[i][name .. "_ms"] == "bad" then error(name .. ": a bad figure\nstack", 0) end
      return { twice = 2 * rows[i][name .. "_ms"], scratch = scratch }
    end
    function run:take(i, found, problem) return { id = self.ids[i], found = found, problem = problem } end
    function run:finish(answers)
      local out, ran, lines = {}, 0, {}
      for n, answer in ipairs(answers) do
        out[n] = { id = answer.id, twice = answer.found and answer.found.twice, problem = answer.problem }
        lines[n] = answer.id
        ran = ran + (answer.found and 1 or 0)
      end
      return { parts = { name .. ": " .. table.concat(lines, " ") }, ran = ran,
        document = { [name] = { ran = ran }, cases = out, steps = "of " .. name } }
    end
    return run
  end
  for key, value in pairs(more or {}) do kind[key] = value end
  return kind
end

local function two(refuse_a, refuse_b) return { kind_of("a", refuse_a), kind_of("b", refuse_b) } end

local mixed = { ["z/one.csv"] = "id,a_ms\nfirst,1\nsecond,2\n", ["b.csv"] = "id,b_ms\nthird,3\nfourth,bad\n",
  ["c/other.csv"] = "x,y\n1,2\n", ["c/notes.txt"] = "none" }

test("sets are found by their columns, run in the order of their paths, and each has its case numbers", function()
  local folder, kinds = test.folder_of(mixed), two()
  local session = harness.open({ folder = folder }, kinds)
  test.equal(session.cases, 4)
  local ids = {}
  for _, i in ipairs { 4, 2, 3, 1 } do ids[i] = session:take(i, session:case(i)).id end
  test.equal(table.concat(ids, " "), "third fourth first second")
  local done = session:finish()
  test.equal(done.ran, 3)
  test.check(done.text:find("b: third fourth", 1, true) < done.text:find("a: first second", 1, true), done.text)
end)

test("several sets make one document: a member each, and the rest by set", function()
  local folder = test.folder_of(mixed)
  local document = harness.run({ folder = folder }, two()).document
  test.equal(document.schema, 1)
  test.equal(document.kind, "validation")
  test.equal(document.a.ran, 2)
  test.equal(document.b.ran, 1)
  test.equal(#document.sets, 2)
  local second = document.sets[2]
  test.equal(second.path, folder .. "/z/one.csv")
  test.equal(second.kind, "a")
  test.equal(second.member, "a")
  test.equal(second.count, 2)
  test.equal(second.ran, 2)
  test.equal(second.steps, "of a")
  test.equal(second.cases[2].twice, 4)
  test.equal(document.cases, nil)
  test.equal(#document.passed_over, 1)
  test.equal(document.passed_over[1].path, folder .. "/c/other.csv")
end)

test("members of a kind at the root stay there", function()
  local kinds = { kind_of("a", nil, { at_root = true }), kind_of "b" }
  local document = harness.run({ folder = test.folder_of(mixed) }, kinds).document
  test.equal(document.steps, "of a")
  test.equal(document.cases[1].id, "first")
  test.equal(document.sets[2].cases, nil)
  test.equal(document.sets[1].cases[1].id, "third")
end)

test("the text has a heading per set, and names what is passed over and why", function()
  local folder = test.folder_of(mixed)
  local text = harness.run({ folder = folder }, two()).text
  for _, part in ipairs { "FOLDER: 2 sets, 4 cases, 3 ran, 1 did not\n", "\nb: FOLDER/b.csv\n====",
    "\na: FOLDER/z/one.csv\n====", "passed over: FOLDER/c/other.csv (its columns are those of no set)" } do
    part = part:gsub("FOLDER", folder)
    test.check(text:find(part, 1, true), "no '%s' in %s", part, text)
  end
end)

test("a case that fails is a problem of this case, by its first line", function()
  local done = harness.run({ folder = test.folder_of(mixed) .. "/b.csv" }, two())
  test.equal(done.ran, 1)
  test.equal(done.document.cases[2].problem, "b: a bad figure")
  test.check(done.text:find("Could not be simulated\nfourth: b: a bad figure", 1, true), done.text)
  test.check(not done.text:find("third:", 1, true), done.text)
  local kinds = { kind_of("b", nil, { lists_problems = true }) }
  test.check(not harness.run({ folder = test.folder_of(mixed) .. "/b.csv" }, kinds).text:find("Could not", 1, true))
end)

test("a case whose process died has the problem of the process", function()
  local session = harness.open({ folder = test.folder_of(mixed) }, two())
  for i = 1, 4 do session:take(i, i ~= 3 and session:case(i) or nil, i == 3 and "killed" or "") end
  local done = session:finish()
  test.equal(done.document.sets[2].cases[1].problem, "killed")
  test.equal(done.ran, 2)
end)

test("one set is the same in a file and in a folder; other files of the folder are named", function()
  local folder = test.folder_of { ["b.csv"] = mixed["b.csv"] }
  local of_file = harness.run({ folder = folder .. "/b.csv" }, two())
  local of_folder = harness.run({ folder = folder .. "//" }, two())
  test.equal(of_folder.text, of_file.text)
  test.equal(of_folder.document.passed_over, nil)
  test.equal(of_folder.document.cases[1].twice, 6)
  local beside = test.folder_of { ["b.csv"] = mixed["b.csv"], ["x.csv"] = "id,q\n1,2\n" }
  local done = harness.run({ folder = beside }, two())
  test.check(done.text:find(("passed over: %s/x.csv ("):format(beside), 1, true), done.text)
  test.equal(#done.document.passed_over, 1)
  test.equal(done.document.sets, nil)
end)

test("--only looks into the names of all sets; a set without one is named", function()
  local folder = test.folder_of(mixed)
  local done = harness.run({ folder = folder, only = "ir" }, two())
  test.equal(done.document.sets[1].count, 1)
  test.equal(done.document.sets[2].count, 1)
  done = harness.run({ folder = folder, only = "first" }, two())
  test.equal(#done.document.sets, 1)
  test.equal(done.document.a.ran, 1)
  test.check(done.text:find(folder .. "/b.csv: --only: no case has 'first'", 1, true), done.text)
  test.raises("--only: no case of 4 has 'fifth' in its case_id",
    function() harness.run({ folder = folder, only = "fifth" }, two()) end)
  test.raises("--only: no case of 2 has 'first' in its case_id",
    function() harness.run({ folder = folder .. "/b.csv", only = "first" }, two()) end)
end)

local given = { tables = { "x", "--tables" }, steps = { { "kernels" }, "--steps" }, parameters = { nil, "--set" },
  intervals = { 3, "--intervals" }, page = { true, "--html" }, wide = { true, "--wide" } }

test("an option that no set can use is an error, one that some cannot use a note, and no silence", function()
  local folder = test.folder_of(mixed)
  for name, each in pairs(given) do
    local function options()
      return { folder = folder, [name] = each[1], set = name == "parameters" and { "key=1" } or nil }
    end
    test.raises(each[2] .. ": b has none; a has none",
      function() harness.run(options(), two({ [name] = "a has none" }, { [name] = "b has none" })) end)
    local kinds = two(nil, { [name] = "b has none" })
    local done = harness.run(options(), kinds)
    local note = ("%s/b.csv: %s is not used: b has none"):format(folder, each[2])
    test.check(done.text:find(note, 1, true), "%s: %s", name, done.text)
    test.equal(done.document.notes[1], note)
    local used, unused = kinds[1].opened[1][name], kinds[2].opened[1][name]
    test.equal(name == "parameters" and used.key or used, name == "parameters" and 1 or each[1], name)
    test.check(not unused or unused == "" or unused == 0 or next(unused) == nil, name)
    test.equal(#harness.run({ folder = folder }, two(nil, { [name] = "b has none" })).document.notes, 0)
  end
end)

test("options are checked against the sets that run, not those that --only leaves out", function()
  local folder = test.folder_of(mixed)
  test.raises("--html: b has none", function()
    harness.run({ folder = folder, only = "third", page = true }, two(nil, { page = "b has none" }))
  end)
  local done = harness.run({ folder = folder, only = "first", page = true }, two(nil, { page = "b has none" }))
  test.check(not done.text:find("--html", 1, true), done.text)
  test.raises("--set a.seed=3: it is for measured a, of which there is no set here",
    function() harness.run({ folder = folder, only = "third", set = { "a.seed=3" } }, two()) end)
end)

test("--set reaches the kind that it names, and the step models of all", function()
  local folder, kinds = test.folder_of(mixed), two()
  harness.run({ folder = folder, set = { "a.seed=3", "b.on=true", "host_s=0.5", "c.d=x" } }, kinds)
  local a, b = kinds[1].opened[1], kinds[2].opened[1]
  test.equal(#a.scoped, 1)
  test.equal(a.scoped[1].name, "seed")
  test.equal(a.scoped[1].value, 3)
  test.equal(b.scoped[1].value, true)
  test.equal(a.parameters.host_s, 0.5)
  test.equal(b.parameters["c.d"], "x")
  test.raises("--set a.seed=3: it is for measured a, of which there is no set here",
    function() harness.run({ folder = folder .. "/b.csv", set = { "a.seed=3" } }, two()) end)
  test.raises("--set seed: expected key=value",
    function() harness.run({ folder = folder, set = { "seed" } }, two()) end)
end)

test("two sets of one member have their paths as members, unless --only takes one", function()
  local folder = test.folder_of { ["x/b.csv"] = mixed["b.csv"], ["y/b.csv"] = "id,b_ms\nfifth,3\n" }
  local document = harness.run({ folder = folder }, two()).document
  test.equal(document["x/b"].ran .. " " .. document["y/b"].ran, "1 1")
  test.check(document.b == nil, "no set has the member of both")
  test.check(document.notes[1]:find("several sets have the member 'b'; this one has 'x/b'", 1, true), document.notes[1])
  test.equal(harness.run({ folder = folder, only = "fifth" }, two()).document.b.ran, 1)
end)

test("a set stands under the word that its file or folder begins with", function()
  local kinds = { kind_of("b", nil, { words = { "red", "blue" } }) }
  local text = "id,b_ms\nx,3\n"
  local found = sets.below(test.folder_of { ["Red_2/B.CSV"] = text, ["red/blue.csv"] = text,
    ["far/redder/in/b.csv"] = text,
    ["b.csv"] = text }, kinds, { folder_name = "blues" })
  local words = {}
  for i, set in ipairs(found) do words[i] = set.word end
  test.equal(table.concat(words, " "), "red blue b blue")
  local document = harness.run({ folder = test.folder_of { ["b.csv"] = text }, folder_name = "redder" }, kinds).document
  test.equal(document.red.ran, 1)
  test.equal(document.b, nil)
end)

test("a file that replaces others of its folder is the only one", function()
  local kinds = { kind_of("b", nil, { replaces = { file = "new.csv", column = "more" } }) }
  local folder = test.folder_of { ["new.csv"] = "id,b_ms,more\nx,3,1\n", ["old.csv"] = "id,b_ms\nx,3\n" }
  local found, passed = sets.below(folder, kinds, {})
  test.equal(#found, 1)
  test.equal(found[1].path, folder .. "/new.csv")
  test.equal(passed[1].path, folder .. "/old.csv")
  test.equal(passed[1].why, "new.csv beside it replaces it")
  local without = test.folder_of { ["new.csv"] = "id,b_ms\nx,3\n", ["old.csv"] = "id,b_ms\nx,3\n" }
  test.equal(#sets.below(without, kinds, {}), 2)
end)

test("files that rows refer to are counted by folder", function()
  local kinds = { kind_of("b", nil, { files = function(path)
    local own = sets.split(path)
    return { own .. "/./other/../data/1.csv", own .. "/data/2.csv", own .. "/tables" }
  end }), kind_of "a" }
  local folder = test.folder_of { ["b.csv"] = mixed["b.csv"], ["data/1.csv"] = "x,y\n", ["data/2.csv"] = "x,y\n",
    ["data/3.csv"] = "x,y\n", ["tables/of/gemm.csv"] = "x,y\n", ["z.csv"] = mixed["z/one.csv"] }
  local done = harness.run({ folder = folder }, kinds)
  test.equal(done.document.data[folder .. "/data"], 2)
  test.equal(done.document.data[folder .. "/tables/of"], 1)
  test.equal(#done.document.passed_over, 1)
  test.check(done.text:find(("data of cases: %s/data (2 files)"):format(folder), 1, true), done.text)
end)

test("folders behind links are entered, each once", function()
  local folder, far = test.folder_of { ["m/a.csv"] = "id,a_ms\nx,1\n" }, test.folder_of { ["b.csv"] = "id,b_ms\nx,1\n" }
  for to, from in pairs { far = far, ["m/up"] = folder, ["m/again"] = far, ["m/nowhere"] = folder .. "/none" } do
    assert(os.execute(("ln -s '%s' '%s/%s'"):format(from, folder, to)) == 0)
  end
  local found = sets.below(folder, two(), {})
  test.equal(#found, 2)
  test.equal(found[1].path, folder .. "/far/b.csv")
  test.equal(found[2].path, folder .. "/m/a.csv")
end)

test("what is no set says why: no header, few columns missing, no CSV", function()
  local folder = test.folder_of { ["a.csv"] = "id,a_ms\nx,1\n", ["empty.csv"] = "", ["numbers.csv"] = "1,2\n",
    ["open.csv"] = 'id,"a_ms\n1\n', [".hidden/a.csv"] = "id,a_ms\nx,1\n", ["near.csv"] = "case,k,rates\n1,2,3\n" }
  local kinds = { kind_of "a", kind_of("k", nil, { columns = { "case", "k", "rates", "drafter" } }) }
  local _, passed = sets.below(folder, kinds, {})
  local whys = {}
  for i, each in ipairs(passed) do whys[i] = each.path:match "[^/]*$" .. " " .. each.why end
  local text = table.concat(whys, "\n")
  test.equal(#passed, 4, text)
  test.check(text:find("empty.csv it has no header", 1, true), text)
  test.check(text:find("numbers.csv it has no header", 1, true), text)
  test.check(text:find("never closed", 1, true), text)
  test.check(text:find("near.csv it resembles measured k, but has no drafter", 1, true), text)
end)

test("a folder or file without a set is an error that says what it has", function()
  local folder = test.folder_of { ["other.csv"] = "x,y\n1,2\n" }
  test.raises("there is no cases.csv and no other set of measured runs in it or below",
    function() harness.run({ folder = folder }, two()) end)
  test.raises("passed over: " .. folder .. "/other.csv", function() harness.run({ folder = folder }, two()) end)
  test.raises("this is no set of measured runs: its columns are those of no set; known are sets of measured a, "
    .. "measured b", function() harness.run({ folder = folder .. "/other.csv" }, two()) end)
end)

-- The program's kinds ---------------------------------------------------------------------------------------------

local drafts = "case_id,model,gpu,tp,weights,kv_dtype,engine,drafter,k,acceptance,load,concurrency_or_rate,requests,"
  .. "prompt_tokens,output_tokens,max_model_len,max_num_seqs,max_num_batched_tokens,memory_utilization,kv_blocks,"
  .. "prefix_caching,async_depth,graph_max_tokens,output_tok_s,ttft_mean_ms,tpot_mean_ms\n"
local draft = 'drafted,llama-3.1-8b,H200-SXM,1,bf16,bf16,vLLM 0.22.0,none,0,,"closed loop",2,8,100,20,512,64,8192,0.9,,'
  .. "off,2,512,100,30,7\n"
local starts = "case,engine,release,model,hardware,memory_gib,tp,weights_format,kv_format,utilization,static_fraction,"
  .. "max_model_len,max_num_seqs,max_num_batched_tokens,chunk,eager,speculation,weights_gib,kv_gib,kv_tokens,"
  .. "max_concurrency,starts,scored,notes\nstarted,vllm,0.11.0,llama-3.1-8b,h100-sxm,,1,bf16,bf16,0.9,,16000,,,,no,"
  .. "none,,,421024,,yes,yes,\n"
local loops = "question,family,system,engine,engine_version,format,mode,widths_tp_dp_moetp_moeep,workers,isl,osl,"
  .. "clients,ttft_ms,tpot_ms,measurements,source\n"
  .. 'asked,llama-3.1-8b,h100_sxm,vllm,0.15.1,bf16,agg,"1,1,1,1",,200,20,2,20,8,1,own\n'
local list = "case_id,rating,dataset,file,selector,model,gpu,tp,precision,engine,workload,metrics,measured,notes\n"
  .. "loop,C,own,data/loop.csv,row,llama-3.1-8b,H200,1,bf16,vLLM 0.15.1,closed loop c=2 in=200 out=20,x,e2e_ms=400,\n"

local function everything()
  return { ["cases.csv"] = list, ["data/loop.csv"] = "p,q\n1,2\n", ["drafts/a.csv"] = drafts .. draft,
    ["starts.csv"] = starts, ["loops/one.csv"] = loops, ["cookbook/one.csv"] = loops:gsub("asked", "cooked"),
    ["x/amd_2.csv"] = loops:gsub("asked", "other"), ["x/unknown.csv"] = "a,b\n1,2\n" }
end

test("all kinds of sets of a folder are in one document", function()
  local folder = test.folder_of(everything())
  local done = validate.run { folder = folder, steps = { "kernels" } }
  local document = done.document
  test.equal(#document.sets, 6, done.text)
  test.equal(done.ran, 6, done.text)
  test.equal(document.cases[1].case_id, "loop")
  test.equal(document.totals.all.e2e_mean.cases, 1)
  test.equal(document.speculation["llama-3.1-8b"].tpot.cases, 1)
  test.equal(document.capacity.all.tokens.rows, 1)
  for _, word in ipairs { "silicon", "cookbook", "amd" } do test.equal(document[word].coverage.questions, 1, word) end
  test.equal(#document.passed_over, 1)
  test.equal(document.data[folder .. "/data"], 1)
end)

test("a set has the same figures in a folder as alone", function()
  local folder = test.folder_of(everything())
  local document = validate.run({ folder = folder, steps = { "kernels" }, wide = true }).document
  local function same(found, expected, what) test.equal(json.encode(found), json.encode(expected), what) end
  local alone = validate.run { folder = folder .. "/loops/one.csv", wide = true }.document
  same(document.silicon, alone.silicon, "silicon")
  alone = validate.run { folder = folder .. "/drafts/a.csv" }.document
  same(document.speculation, alone.speculation, "speculation")
  alone = validate.run { folder = folder .. "/starts.csv" }.document
  same(document.capacity, alone.capacity, "capacity")
  alone = validate.run { folder = folder .. "/cases.csv", steps = { "kernels" } }.document
  for _, name in ipairs { "cases", "totals", "groups", "others" } do same(document[name], alone[name], name) end
end)

test("kernel tables in a folder of cases are no files that are passed over", function()
  local folder = test.folder_of { ["cases.csv"] = list, ["data/loop.csv"] = "p,q\n1,2\n",
    ["tables/own/gemm.csv"] = "m,n\n" }
  local done = validate.run { folder = folder, steps = { "kernels, shipped data" } }
  test.equal(done.document.passed_over, nil)
  test.check(not done.text:find("passed over", 1, true), done.text)
end)

test("a header that lacks a column stops the command, and names the column", function()
  local files = everything()
  files["starts.csv"] = starts:gsub("engine,release", "engine,released")
  test.raises("missing: release", function() validate.run { folder = test.folder_of(files) } end)
  files = everything()
  files["cases.csv"] = list:gsub("rating", "rated")
  test.raises("missing: rating", function() validate.run { folder = test.folder_of(files) } end)
  files = everything()
  files["drafts/a.csv"] = (drafts .. draft):gsub("acceptance", "accepted")
  local passed = validate.run { folder = test.folder_of(files), only = "started" }.document.passed_over
  test.equal(passed[1].why, "it resembles measured speculative decoding, but has no acceptance")
end)

test("a row with more columns than the header is a problem of its case", function()
  local start = starts:match "\n(.*)\n$"
  for _, text in ipairs { drafts .. draft .. draft:gsub("\n", ",1\n"), starts .. start .. ",1\n" } do
    local done = validate.run { folder = test.folder_of { ["a.csv"] = text } .. "/a.csv" }
    test.equal(done.ran, 1, done.text)
    test.check(done.document.cases[2].problem:find("columns, the header", 1, true), done.document.cases[2].problem)
  end
end)

test("options that no kind here can use are errors", function()
  local folder = test.folder_of(everything())
  test.raises("--wide: measured speculation reports every case", function()
    validate.run { folder = folder .. "/drafts/a.csv", wide = true }
  end)
  test.raises("'kernels, shipped data' is for measured cases", function()
    validate.run { folder = folder .. "/loops/one.csv", steps = { "kernels, shipped data" } }
  end)
  test.raises("--steps: unknown step model 'kernel'; did you mean 'kernels'", function()
    validate.run { folder = folder .. "/cases.csv", steps = { "kernel" } }
  end)
  test.raises("--set speculation.seed=1: it is for measured speculative decoding, of which there is no set here",
    function() validate.run { folder = folder .. "/cases.csv", set = { "speculation.seed=1" } } end)
end)

test.finish()
