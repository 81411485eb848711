--- The drafts that options of SGLang ask for: a chain, a tree, a block of one pass, or a look-up.
--- Sources: python/sglang/srt/server_args.py (_handle_speculative_decoding, auto_choose_speculative_params) and
--- python/sglang/srt/speculative/dflash_worker.py.
local algorithms = { EAGLE = "mtp", NEXTN = "mtp", EAGLE3 = "eagle", STANDALONE = "draft_model", NGRAM = "free",
  DFLASH = "block_parallel", DSPARK = "block_parallel" }

local deepseek = { deepseek_v2 = true, deepseek_v3 = true, deepseek_v32 = true, kimi_k2 = true }

--- {steps, branches, verified tokens} where no option states any.
local function tree_by_default(target)
  if target and deepseek[target.family] then return 3, 1, 4 end
  return 5, 4, 8
end

local block_tokens, block_layers = 16, 5 -- published DFlash checkpoints: blocks of 16, 5 to 8 layers

--- Tokens of the block that one pass drafts; its first is the last one that was accepted.
local function of_block(options, out)
  local block = options.speculative_num_draft_tokens or options.speculative_dflash_block_size
    or options.speculative_dspark_block_size or block_tokens
  out.draft_tokens, out.parameters = math.max(block - 1, 0), { layers = block_layers }
  return out
end

--- The drafter of a command: EAGLE without a drafter of its own drafts with the layers of the model. With one branch
--- the engine verifies steps + 1 tokens, whatever is stated.
--- @param options table
--- @param target rooflua.Model? whose tokens are drafted
--- @return table? {drafter, method, model, draft_tokens, steps?, topk?, parameters?, note?}
return function(options, target)
  local method = options.speculative_algorithm
  if method == nil then return nil end
  local model, drafter = options.speculative_draft_model_path, algorithms[method:upper()]
  if drafter == "mtp" and model ~= nil then drafter = "eagle" end
  local out = { drafter = drafter, method = method, model = model }
  if drafter == "block_parallel" then return of_block(options, out) end
  local steps, verified = options.speculative_num_steps, options.speculative_num_draft_tokens
  local topk = options.speculative_eagle_topk or 1
  if not steps and not verified and (drafter == "mtp" or drafter == "eagle") then
    steps, topk, verified = tree_by_default(target)
  end
  if drafter == "free" then
    out.draft_tokens = verified and verified - 1 or steps
    out.note = "drafts are a tree; they are taken for its longest path"
  elseif topk > 1 and steps and verified and drafter then
    out.draft_tokens, out.steps, out.topk = verified - 1, steps, topk
  else
    out.draft_tokens = steps or verified and verified - 1
  end
  return out
end
