---@meta rooflua.spec
--- Models, hardware and deployments to simulate. Objects are read-only; an unknown field is an error with
--- suggestions.
---@class rooflua.spec
local spec = {}

-- generated: classes of models
---@class rooflua.Projection matrices of what projects the output of an encoder
---@field inputs integer of a row
---@field outputs integer of a result
---@field times integer that are alike
---@field per_patch boolean rows are patches; false: tokens of the language model
---@field rows number for each patch, of a matrix in front of the layers

---@class rooflua.ItemEncoder an encoder of images or sounds, which counts of the language model leave out
---@field parameters number with what projects its output
---@field hidden_size integer of a patch
---@field intermediate_size integer of its MLPs
---@field patches_per_token integer that become one token of the language model
---@field image_tokens integer of the largest image; 0: what its processor says
---@field layers integer of the encoder; 0: its time is not known
---@field heads integer of its attention
---@field gated boolean MLPs of gate, up, down; false: up, down
---@field patch_size integer a side of a patch
---@field channels integer of a pixel
---@field patch_frames integer of a video that are one patch
---@field window integer that attend to each other; 0: all of a frame
---@field whole_layers integer that attend to all of a frame where others have a window
---@field projector rooflua.Projection[] the matrices between its output and the language model
---@field stem rooflua.Projection[] matrices in front of its layers (convolutions); none: one over pixels
---@field processor string file of scripts/processors: tokens of an item by its size
---@field min_pixels number that the processor scales an image up to; 0: its own
---@field max_pixels number that it scales an image down to; 0: its own
---@field edge integer longest side of an image, or of a tile; 0: the processor's own
---@field tiles integer most tiles of an image; 0: the processor's own
---@field embedding_width elements of an embedding, once for each layer that it feeds; 0: not known

---@class rooflua.Sampling how tokens are drawn if a request does not say
---@field temperature number 0: the most probable token
---@field top_p number 1: all tokens
---@field top_k integer 0: all tokens
---@field min_p number 0: all tokens
---@field repetition_penalty number 1: none
---@field sorts boolean whether the logits of a request are sorted
---@field source string where the values were published

---@class rooflua.NgramTable embeddings of the last few tokens together, looked up in a table
---@field rows number of the table; 0: there is none
---@field columns integer of a row
---@field rows_per_token integer that a token reads
---@field dtype string of its elements
---@field on_host boolean in the memory of the host, rows of which cross its link

---@class rooflua.MixtureOfExperts MLPs of which each token visits some
---@field experts integer of a layer
---@field experts_per_token integer that each token visits
---@field intermediate_size integer of one expert
---@field shared_intermediate_size integer of all shared experts together; 0: none
---@field dense_layers integer with a dense MLP
---@field latent_size integer between a projection down, the experts and a projection up; 0: none

---@class rooflua.MlpLayers layers whose MLP is alike
---@field kind "dense"|"moe"|"both"? which MLPs a token visits, or the name of a file in layers/mlp
---@field name string the kind; with a number where a model has several
---@field layers integer of this kind
---@field visits integer as those of attention
---@field prefill_tail integer as those of attention
---@field intermediate_size integer? of the dense MLP; 0: there is none
---@field gated boolean? gate, up, down; false: up, down
---@field parameters table? of a kind that is a file
---@field inner_elements number? of a kind that is a file: elements of a token between its matrices
---@field formats table of these layers alone, by class of weights
---@field moe rooflua.MixtureOfExperts? of moe and both

---@class rooflua.Mamba2 recurrent layers of a state space
---@field heads integer of the state
---@field head_dim integer of one head
---@field groups integer of heads that share what is written and read
---@field state_size integer of the state, for each element of a head
---@field conv_kernel integer of the short convolution

---@class rooflua.DeltaRule recurrent layers with a matrix per head, which the delta rule updates
---@field full_attention_interval integer every n-th layer is full attention
---@field rule "gdn"|"kda" gdn: a gate per head; kda: per channel
---@field conv_kernel integer of the short convolution
---@field key_heads integer of keys
---@field key_head_dim integer of keys
---@field value_heads integer of values
---@field value_head_dim integer of values

---@class rooflua.Compression compressed attention with one vector of keys and values for all heads
---@field ratio integer that become one entry of the cache; 0: there is a window only
---@field q_lora_rank integer 0: queries are not compressed
---@field qk_rope_head_dim integer of queries and keys, with a position
---@field o_lora_rank integer between the two output projections
---@field o_groups integer of heads in the first output projection

---@class rooflua.SparseIndex the index of sparse attention, which scores every token before its own
---@field heads integer of the index
---@field head_dim integer of one head
---@field topk integer tokens that are selected; of block_sparse: blocks
---@field block integer that are selected together
---@field own boolean false: the selection of another layer is used again

---@class rooflua.LatentAttention keys and values as one compressed vector per token
---@field q_lora_rank integer 0: queries are not compressed
---@field kv_lora_rank integer of the compressed keys and values of a token
---@field qk_nope_head_dim integer of queries and keys, without a position
---@field qk_rope_head_dim integer of queries and keys, with a position
---@field v_head_dim integer of values

---@class rooflua.AttentionLayers layers whose attention is alike; figures are the whole model's
---@field kind string? what a token attends to, or the name of a file in layers/attention
---@field name string the kind; with a number where a model has several
---@field layers integer of this kind
---@field visits integer of a pass to each of them, as in a loop; 0 or left out: one
---@field prefill_tail integer last ones of a prompt, which alone run through these layers; 0 or left out: all
---@field heads integer? of queries; left out: the model's
---@field kv_heads integer? of keys and values; left out: the model's
---@field head_dim integer? of queries and keys; left out: the model's
---@field v_head_dim integer? of values; left out: head_dim
---@field output_gate boolean? the q projection also yields a gate of its own size
---@field window integer? the last tokens, itself included
---@field latent rooflua.LatentAttention? of latent and latent_sparse
---@field index rooflua.SparseIndex? of latent_sparse, block_sparse and compressed
---@field compression rooflua.Compression? of compressed
---@field delta rooflua.DeltaRule? of delta
---@field mamba rooflua.Mamba2? of mamba2
---@field parameters table? of a kind that is a file
---@field bound table? of a kind that is a file: the form and the tokens of what its attention computes with
---@field keeps_state boolean? of a kind that is a file: whether requests have a state
---@field state_inputs integer? of a kind that is a file: tokens whose inputs are that whole state, or 0
---@field kernels string? of a kind that is a file: full, if engines run kernels of full attention for it
---@field formats table of these layers alone, by class of weights

---@class rooflua.ModelNote a sentence about what its description leaves out
---@field text string the sentence
---@field touches "nothing"|"attention"|"linear"|"everything" operations whose price it makes doubtful
---@field beyond_tokens integer only batches with a longer context are touched

---@class rooflua.Model a transformer
---@field name string how it is called; left out: as its file
---@field origin string file that it was read from
---@field family string the architecture by its word in config.json (model_type), as "qwen3_moe"; "" where none is known
---@field layers integer of the language model
---@field hidden_size integer between layers
---@field heads integer of queries
---@field kv_heads integer of keys and values; left out: as many as heads
---@field head_dim integer of queries and keys; left out: hidden_size / heads
---@field intermediate_size integer of the dense MLP
---@field vocab_size integer of the vocabulary
---@field max_model_len integer 0: not stated
---@field tied_embeddings boolean the LM head is the input embedding
---@field attention_bias boolean on q, k and v
---@field gated_mlp boolean gate, up, down; false: up, down
---@field dtype string of activations and unquantised weights
---@field weight_dtype string of linear weights
---@field full_attention_layers integer layers with a growing KV cache
---@field moe_layers integer layers with routed experts
---@field qk_norm boolean norms of q and k per head
---@field notes rooflua.ModelNote[] what its file says and this description leaves out
---@field attention rooflua.AttentionLayers[] the kinds of attention, in the order in which they are priced
---@field mlp rooflua.MlpLayers[] the kinds of MLPs
---@field uniform boolean whether the figures above describe every layer
---@field streams integer of residuals, which every block mixes; nil or 1: one
---@field ngram_tables rooflua.NgramTable[]? tables of embeddings of several tokens; nil without one
---@field mtp_layers integer for multi-token prediction, which nothing counts
---@field asked_format string format of the weights published under the alias that it was asked for by; "" = its own
---@field context_caps integer[] tokens at which attention of some layers stops to grow
---@field context_chunk integer tokens of a chunk of attention; 0 = none
---@field sampling rooflua.Sampling? what its generation_config.json asks for
---@field vision rooflua.ItemEncoder? the encoder of images
---@field audio rooflua.ItemEncoder? the encoder of sounds
---@field moe rooflua.MixtureOfExperts? routed experts; nil in a dense model
---@field mla rooflua.LatentAttention? latent attention
---@field hybrid rooflua.DeltaRule? recurrent layers at a regular interval
-- end of classes of models
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
---@field peer_copies boolean GPUs of a node copy to each other, not through its host's memory
---@field tdp_w number watts that the datasheet allows; 0 = not stated
---@field sms integer streaming multiprocessors
---@field tables_from string GPU whose tables are borrowed; "" = none
---@field sources table<string, string> where each figure was published
---@field constants table<string, number> of modelled kernels and collectives, by name: help "mfu.model"
---@field fitted_on string family and GPUs that they were fitted on; "" = unknown
---@field shares_bus boolean GPUs reach each other and their host's memory over one bus
---@field fit_note string says that these were fitted on another family; "" = on its own
---@field memory_bytes_per_s number bytes/s; of the memory
---@field link_bytes_per_s number bytes/s; one direction, to the peers of one node
---@field network_bytes_per_s number bytes/s; one direction and GPU, beyond them; 0 = not stated
---@field host_bytes_per_s number bytes/s; one direction, to the host's memory; 0 = not stated
---@field memory_bytes number bytes; as sold
---@field usable_memory_bytes number bytes; as the driver reports
---@field clock_hz number Hz; boost clock
---@field l2_bytes number bytes; last-level cache; no time depends on it; 0 = not stated
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
---@field adapter_bytes number per rank: slots of low-rank adapters; 0 without them
---@field expert_weight_bytes number per GPU of the experts; 0 without expert_gpus
---@field expert_needed_bytes number per GPU of the experts: weights, activations and runtime
---@field redundant_expert_bytes number per rank: copies of experts; 0 without them
---@field activation_bytes number per rank: what a dummy forward at the token budget needs, an estimate
---@field seat_bytes number per rank: windows, chunks and recurrent states of one request
---@field seat_blocks integer KV blocks that hold them, besides those of the request's tokens; 0 without such layers
---@field kv_bytes_per_block number per rank, all layers whose cache grows, a drafter's among them
---@field kv_capacity_bytes number per rank: kv_blocks of them
---@field tp integer tensor parallel ranks: they divide attention and dense MLPs
--- data-parallel ranks of the attention, in models with experts: each is a replica on tp GPUs with a scheduler of its
--- own, and all step together
---@field dp integer
---@field ep integer ranks that hold whole experts; the rest of tp * dp, or of expert_gpus, divides the width of each
---@field moe_tp integer ranks that divide the width of each expert; default the ranks of experts / ep
---@field pp integer pipeline parallel stages: each has some of the layers, on tp GPUs of its own
---@field cp integer ranks on tp GPUs each that divide prompts; each keeps all KV
---@field dcp integer ranks of tp that divide the KV of a request, not hold copies of it
--- GPUs of a pool of their own that hold the routed experts; 0: the GPUs of the attention hold them
---@field expert_gpus integer
--- parts of a step that are in flight between the GPUs of the attention and those of the experts
---@field micro_batches integer
---@field memory_utilization number share of the usable memory that the engine takes
---@field max_num_seqs integer most requests in a step
---@field max_num_batched_tokens integer most tokens in a step
---@field block_size integer tokens in a KV block, on all ranks of dcp together
-- end of fields of a deployment

--- A model by name or alias, from a config.json, a .toml, or a table with the same keys. In a table, `from` names a
--- model; the other keys replace those of its own file, and false leaves a table or a list out. Of a config.json,
--- `ignore = { "key" }` leaves keys out before it is read, and `read_as = { theirs = "known" }` reads a key as another.
--- Error: naming the file, and the line or key.
---@param source string|table|rooflua.Model
---@return rooflua.Model
function spec.model(source) end

--- A GPU by name or alias, from a hardware.toml or its folder, or a table: the fields of a Hardware
--- (`from = "h200-sxm"` supplies those left out) or the keys of a hardware.toml. `power_cap_w` beside `from` limits
--- its watts, below tdp_w: clock and peaks fall with the cube root. `mixed = { "rtx-3090", "rtx-4090" }` alone is a
--- group of unlike cards, each figure that of the card with less. A family.toml beside a hardware.toml has constants
--- of modelled kernels (rooflua data family).
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
--- default 1; ranks that hold whole experts; the rest of tp * dp, or of expert_gpus, divides the width of each
---@field ep integer?
---@field moe_tp integer? ranks that divide the width of each expert; default the ranks of experts / ep
---@field pp integer? default 1; pipeline parallel stages: each has some of the layers, on tp GPUs of its own
---@field cp integer? default 1; ranks on tp GPUs each that divide prompts; each keeps all KV
---@field dcp integer? default 1; ranks of tp that divide the KV of a request, not hold copies of it
--- default 0; GPUs of a pool of their own that hold the routed experts; 0: the GPUs of the attention hold them
---@field expert_gpus integer?
--- default 1; parts of a step that are in flight between the GPUs of the attention and those of the experts
---@field micro_batches integer?
---@field weights string? number format of the linear weights, or the name of a release; default the model's
---@field kv string? number format of the KV cache; default as released, else the model's
---@field memory_utilization number? default 0.92; share of the usable memory that the engine takes
---@field max_num_seqs integer? default 256; most requests in a step
---@field max_num_batched_tokens integer? default 8192; most tokens in a step
---@field block_size integer? default 16; tokens in a KV block, on all ranks of dcp together
---@field kv_blocks integer? KV blocks; default what the memory has room for. More are taken, with a note
-- end of options of a deployment

--- A model on GPUs: weights per rank, KV blocks. If it does not fit, the error says how much memory is missing.
---@param options rooflua.DeploymentOptions
---@return rooflua.Deployment
function spec.deployment(options) end

---@class rooflua.PowerRow
---@field load string what ran; "idle"
---@field busy_frac number share of the time in which it ran
---@field mfu number arithmetic over the peak of its format and the whole time
---@field bandwidth_frac number bytes over the bandwidth of the memory and the whole time
---@field op string
---@field dtype string
---@field watts number mean of the GPU; of a cell of power_by_load.csv its p75
---@field engine string? of a cell
---@field watts_p25 number? of a cell
---@field watts_p50 number? of a cell
---@field watts_p90 number? of a cell
---@field readings integer? of a cell

--- Watts measured on a GPU (power.csv or power_by_load.csv beside its hardware.toml), and what the rows are in words;
--- nil where none were, and of a GPU that is given as a table. Raises an error for a row that is none.
---@param source string|table|rooflua.Hardware as for spec.hardware
---@return rooflua.PowerRow[]?
---@return string? about
function spec.power(source) end

--- Names of the shipped models.
---@return string[]
function spec.models() end
--- Names of the shipped GPUs.
---@return string[]
function spec.gpus() end

return spec
