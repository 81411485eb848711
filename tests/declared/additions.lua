--- One new op, one metric, one number format, one figure of a model, one scenario key, one option of a deployment, one
--- release of an engine with a rule of its own, one option of it, one kind of policy, one kind of attention and one of
--- MLP, one axis of a plan, one column of a measured set and one part of a run, each as the texts that a person would
--- insert. `declaration` is the file that declares it; `code` are the insertions that compute something new; `own` are
--- the files that are new with it, {from a file of this folder, to}; `most` files of both others change. An insertion
--- goes in front of the one place where `before` stands. All of these are read from the page `recipe` where an addition
--- has one.
return {
  {
    kind = "op", name = "sample_scan",
    declaration = {
      file = "engine/cost/entries/declared.cpp",
      {
        before = "// The ops ---",
        text = [[
constexpr Field sample_scan_fields[] = {{.name = "state_size",
                                         .number = QueryNumber::own(0),
                                         .unit = "elements",
                                         .doc = "Width of the state.",
                                         .role = FieldRole::key,
                                         .kind = FieldKind::count},
                                        tokens};

]],
      },
      {
        before = "};\n\ntemplate <std::size_t a, std::size_t b>",
        text = [[
    {.name = "sample_scan",
     .doc = "A scan over a state, as an example of an op.",
     .fields = sample_scan_fields,
     .file = "sample_scan"},
]],
      },
    },
  },
  {
    kind = "op with a model and an index", name = "sample_gemm",
    declaration = {
      file = "engine/cost/entries/declared.cpp",
      {
        before = "};\n\ntemplate <std::size_t a, std::size_t b>",
        text = [[
    {.name = "sample_gemm",
     .doc = "A GEMM of half the speed, as an example of an op with a model and an index.",
     .fields = gemm_fields,
     .flop = work::gemm_flop,
     .bytes = work::gemm_bytes,
     .peak = PeakOf::dtype,
     .model = [](const Query& query, const Hardware& hardware) {
       modelled::Priced priced = modelled::gemm(query, hardware);
       priced.latency_s *= 2;
       return priced;
     },
     .index = index_over<GemmTables>,
     .file = "sample_gemm"},
]],
      },
    },
  },
  {
    kind = "number format", name = "sample6",
    declaration = {
      file = "engine/spec/dtype.cpp",
      {
        before = "});\n\nconstexpr bool in_order() {",
        text = [[
    {.dtype = Dtype(21),
     .name = "sample6",
     .bits = 6,
     .runs_as = Dtype(21),
     .fallback_peak = Dtype::bf16,
     .spellings = {}},
]],
      },
    },
  },
  {
    kind = "figure of a model", name = "sample_width",
    declaration = {
      file = "engine/spec/figures/model.cpp",
      {
        before = '    figure<&Model::vocab_size>(',
        text = '    figure<&Model::sample_width>("sample_width", "elements", 0, 500, open, "a sample"),\n',
      },
    },
    code = {
      { file = "engine/spec/model.h", before = "  int vocab_size = 0;", text = "  int sample_width = 0;\n" },
    },
  },
  {
    kind = "metric", name = "longest_step_s",
    declaration = {
      file = "engine/measure/record/metrics.cpp",
      {
        before = '    {"time_s", "time", "s", less, "of kind',
        text = '    {"longest_step_s", "longest step", "s", less, "the longest step", &Summary::longest_step_s},\n',
      },
    },
    code = {
      { file = "engine/measure/record/summary.h", before = "  EvidenceShares evidence{};",
        text = "  double longest_step_s = 0;\n" },
      { file = "engine/measure/record/summary.h", before = "  std::vector<Group> classes_, replicas_;",
        text = "  Picoseconds longest_step_ = 0;\n" },
      { file = "engine/measure/record/summary_steps.cpp",
        before = "  span_.last_step_end = std::max(span_.last_step_end, end);",
        text = "  longest_step_ = std::max(longest_step_, end - start);\n" },
      { file = "engine/measure/record/summary.cpp", before = "  out.exact = keeping_;",
        text = "  out.longest_step_s = seconds(longest_step_);\n" },
    },
  },
  {
    kind = "scenario key", name = "sample_label",
    declaration = {
      file = "scripts/lib/rooflua/scenario/keys.lua",
      {
        before = '  { name = "seed", type = "integer", default = 0, kinds = every',
        text = [[
  { name = "sample_label", type = "text", default = "", kinds = every, read_by = "scenario.shape",
    doc = "a label, as an example of a key" },
]],
      },
    },
  },
  {
    kind = "option of a deployment", name = "sample_share",
    declaration = {
      file = "engine/spec/figures/deployment.cpp",
      {
        before = "    figure<&Options::drafter_weight_bytes>(",
        text = '    figure<&Options::sample_share>("sample_share", "1", 0.25, 1, open, "an example of an option"),\n',
      },
    },
    code = {
      { file = "engine/spec/figures/deployment.h", before = "  Bytes drafter_weight_bytes = {};",
        text = "  double sample_share = 0.5;\n" },
    },
  },
  {
    kind = "release", name = "vllm 0.99.0",
    declaration = {
      file = "scripts/engines/vllm.lua",
      { before = ' },\n  seen =', text = ', { "0.99.0", "2030-01-01" }' },
      {
        before = "    -- Sampling.",
        text = '    { since = "0.99", max_num_seqs = 77, source = "an example of a rule" },\n',
      },
    },
  },
  {
    kind = "option of an engine", name = "sample_len",
    declaration = {
      file = "scripts/engines/vllm.lua",
      {
        before = '    { "num_gpu_blocks_override"',
        text = [[
    { "sample_len", parameter = "max_model_len", flag = "--sample-len", type = "integer", min = 1, since = "0.99",
      key = "deployment.max_model_len", doc = "an example of an option" },
]],
      },
    },
  },
  {
    kind = "kind of policy", name = "samples", most = 1,
    declaration = {
      file = "scripts/lib/rooflua/policy/kinds.lua",
      {
        before = '  { folder = "candidates"',
        text = '  { folder = "samples", doc = "an example of a kind of policies" },\n',
      },
    },
    own = { { "sample_policy.lua", "scripts/samples/first.lua" } },
  },
  {
    kind = "kind of attention", name = "sample_attention", most = 0,
    own = { { "sample_attention.lua", "scripts/layers/attention/sample_attention.lua" },
      { "sample_layers.toml", "scenarios/models/sample-layers.toml" } },
  },
  {
    kind = "kind of MLP", name = "sample_mlp", most = 0,
    own = { { "sample_mlp.lua", "scripts/layers/mlp/sample_mlp.lua" } },
  },
  {
    kind = "axis of a plan", name = "block_size", most = 1,
    declaration = {
      file = "scripts/lib/rooflua/plan/axes.lua",
      {
        before = '  { "prefix_caching", of',
        text = [[
  { "block_size", of = "deployment", type = "count", least = 1, word = "blocks of %d", untried = "other blocks",
    values = { "own" }, unstated = "own", words = { own = true }, unit = "tokens", doc = "An example of an axis.",
    option = { "--block-sizes", "Tokens of a KV block to try" } },
]],
      },
    },
  },
  {
    kind = "column of a measured set", name = "graph_gib", most = 1,
    declaration = {
      file = "scripts/lib/rooflua/validate/capacity/rows.lua",
      {
        before = '  { names = "nontorch_gib"',
        text = '  { names = "graph_gib", type = "number", unit = "GiB", measured = true, error = "graphs" },\n',
      },
    },
  },
  { kind = "part of a run", name = "slow", most = 6, recipe = "docs/PARTS.md" },
}
