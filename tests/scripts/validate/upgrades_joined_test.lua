-- Upgrades made of two measured closed loops: what the row leaves out stands in those of ../silicon/questions.csv.
local test = dofile "tests/scripts/harness.lua"
local chunks = require "rooflua.sandbox.chunks"

local validate = chunks.require "rooflua.validate.command"

local function write(path, content)
  local file = assert(io.open(path, "w"))
  file:write(content)
  file:close()
  return path
end

--- A folder with upgrades and the closed loops that they are made of.
local function folder_of(loops)
  local folder = test.folder() .. "/joined" .. tostring(#loops)
  assert(os.execute(("mkdir -p '%s/upgrades' '%s/silicon'"):format(folder, folder)) == 0)
  write(folder .. "/silicon/questions.csv", "question,family,system,engine,engine_version,format,mode,widths,workers,"
    .. "options,env,isl,osl,clients,date,config,client,ttft_ms,tpot_ms\n" .. loops)
  return folder .. "/upgrades/"
end

local function loop(id, options, env, date, client)
  return ('%s,llama-3.1-8b,h100_sxm,vllm,x,bf16,agg,"1,1,1",,%s,%s,200,20,4,%s,exact,"%s",1,1\n'):format(id, options,
    env, date, client or "requests=3 a client; lengths=[0.8 L, L]")
end

local header = "id,deployment,model,gpu,tp,engine,version_before,version_after,command,load,figure,before,after,"
  .. "direction,patched,scored,source\n"

--- The answer of a row that names both loops.
local function answer(folder, before, after, source)
  local row = ('a,llama-3.1-8b|h100_sxm|vllm|bf16|1,llama-3.1-8b,h100_sxm,"1,1,1",vllm,%s,%s,max_num_seqs=64,'
    .. '"closed loop 200/20, 4 clients",ttft_ms,5,5,flat,no,yes,%s\n'):format(before, after, source)
  local case = validate.run { folder = write(folder .. "upgrades.csv", header .. row) }.document.cases[1]
  test.check(case.simulated, case.problem)
  return case.simulated, table.concat(case.told, "; ")
end

test("options, variables and clients of each side are those of its loop", function()
  local folder = folder_of(loop("aaaaaaaaaaaa", "max_num_seqs=1", "", "2026-02-10")
    .. loop("bbbbbbbbbbbb", "max_num_seqs=64", "", "2026-02-10"))
  local sides, told = answer(folder, "0.15.1", "0.15.1", "silicon questions aaaaaaaaaaaa and bbbbbbbbbbbb")
  test.check(sides.before > 1.5 * sides.after, "one seat before, and 64 after")
  test.equal(told:find("the client is not described", 1, true), nil)
  local other, more = answer(folder, "0.15.1", "0.15.1", "silicon questions aaaaaaaaaaaa and cccccccccccc")
  test.equal(other.before, other.after, "a loop that is not there: the row's own options")
  test.check(more:find("the client is not described", 1, true), more)
end)

test("a build without a number is the release of the day of its loop", function()
  local folder = folder_of(loop("aaaaaaaaaaaa", "max_num_seqs=64", "", "2026-04-02")
    .. loop("bbbbbbbbbbbb", "max_num_seqs=64", "", "2026-04-08") .. "\n")
  local sides = answer(folder, "nightly-5b8c30d6", "0.19.0", "silicon questions aaaaaaaaaaaa and bbbbbbbbbbbb")
  test.equal(sides.before, sides.after, "0.19.0 is of that day")
end)

test.finish()
