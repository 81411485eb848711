-- What the clients of measured closed loops send, as their rows describe them.
local test = dofile "tests/scripts/harness.lua"
local client = require "rooflua.validate.closed_loops.client"
local policy = require "rooflua.policy"
local rows = require "rooflua.validate.closed_loops.rows"
local serve = require "rooflua.serve"

local write = dofile "tests/scripts/validate/closed_loop_file.lua" (test)

--- A question, and the folder of its file.
local function question(row, about)
  local path = write({ row }, about)
  local found = rows.read(path)[1]
  test.equal(found.problem, nil)
  return found, path:match "^(.*/)"
end

--- The parameters of the workload that a description makes.
local function workload(row, about, scale, given)
  local asked, folder = question(row, about)
  local of = client.of(asked, folder, scale)
  return policy.parameters(client.workload(asked, of, given or 0)), of
end

local function described(text, more)
  local row = { client = text, isl = 1000, osl = 100, clients = 4 }
  for name, value in pairs(more or {}) do row[name] = value end
  return row
end

test("a description says requests, lengths and the rate at which clients begin", function()
  local found, of = workload(described("requests=7 a client; warmup=2 a client, one prompt repeated; "
    .. "lengths=[0.8 L, L]; chat_template=no; rate=300; frontend=dynamo x 4"))
  test.equal(found.clients, 4)
  test.equal(found.num_requests, 28)
  test.equal(found.start_rate_per_s, 300)
  test.equal(found.max_output_tokens, "exact")
  test.equal(found.prompt_tokens.min .. " " .. found.prompt_tokens.max, "800 1000")
  test.equal(found.output_tokens.min .. " " .. found.output_tokens.max, "80 100")
  test.equal(client.mean_output(of), 90)
  test.equal(table.concat(of.notes, "|"), "4 clients begin at 300 requests/s; then each sends when it is answered")
end)

test("the back end of a benchmark's command says whether clients send chats", function()
  local function chats(command) return select(2, workload({ client_command = command }, { older = true })).chats end
  for _, each in ipairs { "vllm bench serve --backend openai-chat --num-prompts 9",
    "vllm bench serve --endpoint-type=openai-chat", "python3 -m sglang.bench_serving --backend sglang-oai-chat" } do
    test.equal(chats(each), true, each)
  end
  for _, each in ipairs { "", "vllm bench serve --backend openai", "bench_serving --backend sglang",
    "vllm bench serve --dataset-name openai-chat" } do
    test.equal(chats(each), false, each)
  end
end)

test("ranges of lengths are whole numbers, and L alone is exact", function()
  local found = workload(described("lengths=[0.8 L, L]", { isl = 103, osl = 31 }))
  test.equal(found.prompt_tokens.min .. " " .. found.output_tokens.min, "82 24")
  test.equal(found.prompt_tokens.max .. " " .. found.output_tokens.max, "103 31")
  found = workload(described("lengths=[ 0.5 L , 1.5 L ]", { isl = 10, osl = 1 }))
  test.equal(found.prompt_tokens.min .. " " .. found.prompt_tokens.max, "5 15")
  test.equal(found.output_tokens.min .. " " .. found.output_tokens.max, "1 1", "an answer has a token")
  for _, text in ipairs { "lengths=L", "requests=10 a client" } do
    found = workload(described(text))
    test.equal(found.prompt_tokens .. " " .. found.output_tokens, "1000 100", text)
  end
end)

test("all clients begin at once if the rate is inf or not stated", function()
  for _, text in ipairs { "rate=inf", "requests=1 a client" } do
    test.equal(workload(described(text)).start_rate_per_s, 0, text)
  end
end)

test("of two numbers of requests the smaller counts", function()
  test.equal(workload(described "requests=50 or 10, by the runner a client").num_requests, 40)
  test.equal(workload(described "requests=10 or 50 a client").num_requests, 40)
end)

test("--set requests_per_client is in the place of what the row says", function()
  test.equal(workload(described "requests=7 a client", nil, 1, 3).num_requests, 12)
end)

test("what is not described is ten requests of each client with exact lengths, and said", function()
  local found, of = workload(described "")
  test.equal(found.num_requests, 40)
  test.equal(found.prompt_tokens, 1000)
  test.equal(of.notes[1], "the client is not described: 10 requests of each, exact lengths")
  test.check(not of.is_text)
end)

test("a chat template is said, as its tokens are not counted", function()
  local _, of = workload(described "requests=10 a client; chat_template=yes")
  test.equal(table.concat(of.notes, "; "), "the tokens of the chat template are not counted")
end)

test("prompts of a broken tokenizer are longer than the client counts; answers are not", function()
  local found, of = workload(described "requests=10 a client; lengths=[0.8 L, L]", nil, 5.031)
  test.equal(found.prompt_tokens.min .. " " .. found.prompt_tokens.max, "4025 5031")
  test.equal(found.output_tokens.max, 100)
  test.equal(of.notes[1], "prompts have 5.03 times the tokens that the client counts, whose tokenizer was broken")
  test.equal(workload(described("", { isl = 1000 }), nil, 5).prompt_tokens, 1000, "nobody says what the client sends")
end)

test("a description that means nothing is an error that names the row", function()
  for text, part in pairs { ["requets=10 a client"] = "client: unknown name 'requets'; did you mean 'requests'",
    ["ten requests"] = "client: expected name=value, found 'ten requests'",
    ["requests=1000"] = "client: requests: expected 10 a client, found '1000'",
    ["requests=0 a client"] = "client: requests: expected", ["requests=ten a client"] = "client: requests: expected",
    ["chat_template=maybe"] = "client: chat_template: expected yes or no, found 'maybe'",
    ["rate=fast"] = "client: rate: expected a number above 0 or inf, found 'fast'",
    ["rate=0"] = "client: rate: expected", ["rate=-3"] = "client: rate: expected",
    ["lengths=long"] = "client: lengths: expected L or [0.8 L, L], found 'long'",
    ["lengths=[L, 0.8 L]"] = "client: lengths: expected", ["lengths=[0.8, 1]"] = "client: lengths: expected" } do
    test.raises(".csv:2: " .. part, function() workload(described(text)) end)
  end
end)

-- Columns --------------------------------------------------------------------------------------------------------

local function by_columns(row, files)
  local given = { isl = 700, osl = 70, clients = 4 }
  for name, value in pairs(row) do given[name] = value end
  local path = write({ given }, { older = true })
  local folder = path:match "^(.*/)"
  for name, text in pairs(files or {}) do
    local file = assert(io.open(folder .. name, "w"))
    file:write(text)
    file:close()
  end
  local asked = rows.read(path)[1]
  local of = client.of(asked, folder)
  return policy.parameters(client.workload(asked, of, 0)), of
end

test("columns state requests of all clients, the rate, and lengths from ratio x L to L", function()
  local found, of = by_columns { requests = 80, request_rate = 5, range_ratio = "0.5", isl_command = 1000,
    osl_command = 101 }
  test.equal(found.num_requests, 80)
  test.equal(found.start_rate_per_s, 5)
  test.equal(found.prompt_tokens.min .. " " .. found.prompt_tokens.max, "500 1000")
  test.equal(found.output_tokens.min .. " " .. found.output_tokens.max, "50 101")
  test.equal(client.mean_output(of), 75.5)
  test.equal(#of.notes, 1, "fewer clients than requests")
  found = by_columns { request_rate = "inf", requests = 8, range_ratio = "0.0", osl_command = 9 }
  test.equal(found.start_rate_per_s, 0)
  test.equal(found.prompt_tokens, 700, "without a length of its command it is that of the row")
  test.equal(found.output_tokens.min .. " " .. found.output_tokens.max, "1 9", "an answer has a token")
  test.equal(by_columns({ range_ratio = "1.0", isl_command = 1000 }).prompt_tokens, 700)
end)

test("a file of lengths holds, request by request", function()
  local row = { lengths_file = "drawn.csv", requests = 3, range_ratio = "0.0", isl_command = 9, osl_command = 9 }
  local text = "prompt_tokens,output_tokens\n30,3\n20,5\n10,4\n"
  local found, of = by_columns(row, { ["drawn.csv"] = text })
  test.equal(table.concat(found.prompt_tokens.values, " "), "30 20 10")
  test.equal(table.concat(found.output_tokens.values, " "), "3 5 4")
  test.equal(client.mean_output(of), 4)
  test.raises("expected columns prompt_tokens and output_tokens",
    function() by_columns(row, { ["drawn.csv"] = "a,b\n1,2\n" }) end)
  test.raises("drawn.csv", function() by_columns(row) end)
end)

test("columns that are no numbers are errors that name the row", function()
  for name, value in pairs { requests = "ten", range_ratio = "half", request_rate = "fast" } do
    test.raises((".csv:2: %s: expected a number"):format(name),
      function() by_columns { [name] = value, isl_command = 10 } end)
  end
  test.raises("isl_command: expected a number, found 'long'", function() by_columns { isl_command = "long" } end)
end)

test("the requests of a run have the lengths of their description", function()
  local asked, folder = question(described("requests=10 a client; lengths=[0.8 L, L]",
    { isl = 103, osl = 31, clients = 32 }))
  local requests = serve.run({ model = "llama-3.1-8b", hardware = "h100-sxm",
    workload = client.workload(asked, client.of(asked, folder), 0) }, { requests = true }).requests
  test.equal(#requests.input_lens, 320)
  local least, most, same = 1e9, 0, 0
  for i, prompt in ipairs(requests.input_lens) do
    least, most = math.min(least, prompt), math.max(most, prompt)
    local output = requests.output_lens[i]
    test.check(output >= 24 and output <= 31, "an answer of %d tokens", output)
    same = same + ((prompt - 82) / 21 == (output - 24) / 7 and 1 or 0)
  end
  test.equal(least, 82)
  test.equal(most, 103)
  test.check(same < 160, "prompts and answers are drawn together")
end)

test("lengths of ShareGPT are drawn about the means of a row, so that clients do not end at once", function()
  local found, of = workload({ isl = 300, osl = 190, clients = 4, requests = 40, dataset = "sharegpt" },
    { older = true })
  test.equal(found.prompt_tokens.distribution .. " " .. found.prompt_tokens.mean, "lognormal 300")
  test.equal(found.output_tokens.mean, 190)
  test.equal(client.mean_output(of), 190)
  test.check(table.concat(of.notes, "\n"):find("ShareGPT", 1, true), "a note says so")
  test.equal(workload({ isl = 300, osl = 190, clients = 4, requests = 40, dataset = "random" },
    { older = true }).output_tokens, 190)
end)

test.finish()
