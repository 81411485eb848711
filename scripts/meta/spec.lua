---@meta rooflua.spec
--- Models, hardware and deployments to simulate. Objects are read-only; an unknown field is an error with
--- suggestions.
---@class rooflua.spec
local spec = {}

---@class rooflua.MixtureOfExperts
---@field experts integer
---@field experts_per_token integer
---@field intermediate_size integer of one expert
---@field shared_intermediate_size integer of all shared experts together; 0 = none
---@field dense_layers integer layers with a dense MLP

---@class rooflua.LatentAttention
---@field q_lora_rank integer 0 = no query compression
---@field kv_lora_rank integer
---@field qk_nope_head_dim integer
---@field qk_rope_head_dim integer
---@field v_head_dim integer

---@class rooflua.HybridAttention
---@field full_attention_interval integer every n-th layer is full attention
---@field conv_kernel integer
---@field key_heads integer
---@field key_head_dim integer
---@field value_heads integer
---@field value_head_dim integer

---@class rooflua.AttentionLayers layers whose attention is alike; figures are the whole model's
---@field kind string full, window, chunk, latent, latent_sparse, compressed, block_sparse, delta or mamba2
---@field name string the kind; with a number where a model has several of one kind
---@field layers integer
---@field heads integer? nil in recurrent layers
---@field kv_heads integer?
---@field head_dim integer? of queries and keys
---@field v_head_dim integer? of values
---@field output_gate boolean?
---@field window integer? tokens; of chunk: tokens of a chunk
---@field latent rooflua.LatentAttention?
---@field index { heads: integer, head_dim: integer, topk: integer, block: integer, own: boolean }?
---@field compression table<string, integer>? ratio, q_lora_rank, qk_rope_head_dim, o_lora_rank, o_groups
---@field delta table<string, any>? rule (gdn, kda), conv_kernel, key_heads, key_head_dim, value_heads, value_head_dim
---@field mamba table<string, integer>? heads, head_dim, groups, state_size, conv_kernel

---@class rooflua.MlpLayers layers whose MLP is alike
---@field kind "dense"|"moe"|"both"
---@field name string
---@field layers integer
---@field intermediate_size integer of the dense MLP
---@field gated boolean
---@field moe rooflua.MixtureOfExperts?

---@class rooflua.Sampling how tokens are drawn if a request does not say
---@field temperature number
---@field top_p number 1: all tokens
---@field top_k integer 0: all tokens
---@field min_p number
---@field repetition_penalty number
---@field sorts boolean whether the logits of a request are sorted
---@field source string

---@class rooflua.VisionEncoder takes memory beside the language model, whose counts leave it out
---@field parameters number with what projects its output
---@field hidden_size integer
---@field intermediate_size integer
---@field patches_per_token integer
---@field image_tokens integer of the largest image; 0 = small images

---@class rooflua.ModelNote
---@field text string
---@field touches "nothing"|"attention"|"linear"|"everything" operations whose price it makes doubtful
---@field beyond_tokens integer only batches with a longer context are touched

---@class rooflua.Model
---@field name string
---@field origin string file that it was read from
---@field family string the architecture by its word in config.json (model_type), as "qwen3_moe"; "" where none is known
---@field layers integer
---@field hidden_size integer
---@field heads integer
---@field kv_heads integer
---@field head_dim integer
---@field intermediate_size integer of the dense MLP
---@field vocab_size integer
---@field max_model_len integer 0 = not stated
---@field tied_embeddings boolean
---@field attention_bias boolean
---@field gated_mlp boolean
---@field dtype string of activations and unquantised weights
---@field weight_dtype string of linear weights
---@field full_attention_layers integer layers with a growing KV cache
---@field moe_layers integer
---@field notes rooflua.ModelNote[] what its file says and this description leaves out
---@field moe rooflua.MixtureOfExperts? nil in a dense model
---@field mla rooflua.LatentAttention?
---@field hybrid rooflua.HybridAttention?
---@field sampling rooflua.Sampling? what its generation_config.json asks for; nil where that is not known
---@field attention rooflua.AttentionLayers[] the kinds of attention, in the order in which they are priced
---@field mlp rooflua.MlpLayers[] the kinds of MLPs
---@field uniform boolean whether the figures above describe every layer
---@field asked_format string format of the weights published under the alias that it was asked for by; "" = its own
---@field mtp_layers integer layers for multi-token prediction, which nothing counts
---@field vision rooflua.VisionEncoder? nil in a model of text only
---@field context_caps integer[] tokens at which attention of some layers stops to grow
---@field context_chunk integer tokens of a chunk of attention; 0 = none
local Model = {}

--- Number of all weights, embeddings and norms included.
---@return number
function Model:parameters() end
--- Number of weights without those of experts that a token does not use.
---@return number
function Model:active_parameters() end
--- KV cache of one token over all layers, before tensor parallelism.
---@param kv_dtype string? default: the model's dtype
---@return number bytes
function Model:kv_bytes_per_token(kv_dtype) end

-- generated: fields of a GPU
---@class rooflua.Hardware
---@field name string as its folder is called
---@field source string file that it was read from
---@field architecture string names the family
---@field peak_flop_per_s table<string, number> dense peaks by dtype: bf16, fp8, ...
---@field computes_in table<string, string> by dtype, the format that the tensor cores multiply it in
---@field domain_gpus integer GPUs that reach each other over the link
---@field node_gpus integer GPUs of one node: that one operating system runs
---@field tdp_w number watts that the datasheet allows; 0 = not stated
---@field sms integer streaming multiprocessors
---@field tables_from string GPU whose tables are borrowed; "" = none
---@field sources table<string, string> where each figure was published
---@field constants table<string, number> of modelled kernels and collectives, by name: help "mfu.model"
---@field fit_note string says that these were fitted on another family; "" = on its own
---@field memory_bytes_per_s number bytes/s; of the memory
---@field link_bytes_per_s number bytes/s; one direction, to the peers of one node
---@field network_bytes_per_s number bytes/s; one direction and GPU, beyond them; 0 = not stated
---@field memory_bytes number bytes; as sold
---@field usable_memory_bytes number bytes; as the driver reports
---@field clock_hz number Hz; boost clock
---@field l2_bytes number bytes; last-level cache; no time depends on it
-- end of fields of a GPU

---@class rooflua.Stage
---@field layers integer
---@field share number of a step's time; the shares of all stages sum to 1
---@field send_s_per_token number? that the activations of a token take from the stage before

-- generated: fields of a deployment
---@class rooflua.Deployment
---@field model rooflua.Model what is placed
---@field hardware rooflua.Hardware the GPU
---@field stages rooflua.Stage[] one where nothing is divided
---@field formats table<string, string> dtype of each class of weights, as this GPU runs them
---@field weights string dtype, also weight_dtype
---@field kv string dtype, also kv_dtype
---@field kv_blocks integer per replica
---@field weight_bytes number per rank
---@field drafter_bytes number per rank: weights of a drafter; 0 without speculation
---@field activation_bytes number per rank: what a dummy forward at the token budget needs, an estimate
---@field seat_bytes number per rank: windows, chunks and recurrent states of one request
---@field seat_blocks integer KV blocks that hold them, beside those of the request's tokens; 0 without such layers
---@field kv_bytes_per_block number per rank, all layers whose cache grows, a drafter's among them
---@field kv_capacity_bytes number per rank: kv_blocks of them
---@field tp integer tensor parallel ranks: they divide attention and dense MLPs
--- data-parallel ranks of the attention, in models with experts: each is a replica on tp GPUs with a scheduler of its
--- own, and all step together
---@field dp integer
---@field ep integer ranks that hold whole experts; the rest of tp * dp divides the width of each
---@field moe_tp integer ranks that divide the width of each expert; default tp * dp / ep
---@field pp integer pipeline parallel stages: each has some of the layers, on tp GPUs of its own
---@field memory_utilization number share of the usable memory that the engine takes
---@field max_num_seqs integer most requests in a step
---@field max_num_batched_tokens integer most tokens in a step
---@field block_size integer tokens in a KV block
-- end of fields of a deployment

--- A model by name or alias, from a config.json, a .toml, or a table with the same keys. In a table, `from` names a
--- model; the other keys replace those of its own file, and false leaves a table or a list out. Of a config.json,
--- `ignore = { "key" }` leaves keys out before it is read. Error: naming the file, and the line or key.
---@param source string|table|rooflua.Model
---@return rooflua.Model
function spec.model(source) end

--- A GPU by name or alias, from a hardware.toml or its folder, or a table: the fields of a Hardware
--- (`from = "h200-sxm"` supplies those left out) or the keys of a hardware.toml.
---@param source string|table|rooflua.Hardware
---@return rooflua.Hardware
function spec.hardware(source) end

-- generated: options of a deployment
---@class rooflua.DeploymentOptions
---@field model any as spec.model takes it
---@field hardware any as spec.hardware takes it
---@field tp integer? default 1; tensor parallel ranks: they divide attention and dense MLPs
--- default 1; data-parallel ranks of the attention, in models with experts: each is a replica on tp GPUs with a
--- scheduler of its own, and all step together
---@field dp integer?
---@field ep integer? default 1; ranks that hold whole experts; the rest of tp * dp divides the width of each
---@field moe_tp integer? ranks that divide the width of each expert; default tp * dp / ep
---@field pp integer? default 1; pipeline parallel stages: each has some of the layers, on tp GPUs of its own
---@field weights string? number format of the linear weights, or the name of a release; default the model's
---@field kv string? number format of the KV cache; default as released, else the model's
---@field memory_utilization number? default 0.92; share of the usable memory that the engine takes
---@field max_num_seqs integer? default 256; most requests in a step
---@field max_num_batched_tokens integer? default 8192; most tokens in a step
---@field block_size integer? default 16; tokens in a KV block
---@field kv_blocks integer? KV blocks; default what the memory has room for. More are taken, with a note
-- end of options of a deployment

--- A model on GPUs: weights per rank, KV blocks. If it does not fit, the error says how much memory is missing.
---@param options rooflua.DeploymentOptions
---@return rooflua.Deployment
function spec.deployment(options) end

--- Names of the shipped models.
---@return string[]
function spec.models() end
--- Names of the shipped GPUs.
---@return string[]
function spec.gpus() end

return spec
