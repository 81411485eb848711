-- Start-ups in the words of releases, filled in with figures. The words (`words/`) are those of the engines' sources
-- and of logs that people published; the figures are a test's own.
local wordings = {}

--- {engine, release, text}.
wordings.list = {}
for _, name in ipairs { "vllm-0.6.4", "vllm-0.7.3", "vllm-0.10.2", "vllm-0.19.1", "vllm-0.29.0", "sglang-0.4.8",
  "sglang-0.5.12", "trtllm-1.0.0", "trtllm-1.3.0rc20" } do
  local engine, release = name:match "^(%a+)%-(.*)$"
  local handle = assert(io.open("tests/scripts/startup/words/" .. name .. ".log"))
  wordings.list[#wordings.list + 1] = { engine = engine, release = release, text = handle:read "*a" }
  handle:close()
end

--- The text of a wording with figures.
function wordings.text(wording, figures)
  return (wording.text:gsub("@([%w_]+)@", function(name) return tostring(figures[name] or "") end))
end

--- Figures of a start of Llama-3.1-8B.
wordings.figures = { model = "meta-llama/Llama-3.1-8B-Instruct", max_model_len = 4096, share = 0.9, tp = 1,
  weights_gib = 14.99, activation_gib = 1.44, graphs_gib = 0.67, memory_gib = 79.19, kv_gib = 55.12,
  half_kv_gib = 27.56, kv_tokens = 451744, kv_tokens_grouped = "451,744", kv_blocks = 28234, concurrency = 110.29 }

return wordings
