--- Rules of engines whose layers run in Python outside of CUDA graphs: host times that are not published, taken
--- from vLLM or fitted to SGLang and TensorRT-LLM together.
return {
  fitted = true,
  { host_step_s = 700e-6, host_request_s = 2e-6, sampler_s = 150e-6,
    source = "as vLLM 0.11 on H100; none is published" },
  { client_frontend_s = 0, server_frontend_s = 0.0018, source = "not known; the server's as that of vLLM" },
  { compiled_operation_s = 40e-6, eager_operation_s = 65e-6, graphs_with_prefill = false,
    source = "fitted, leaving deployments out: docs/records/fitted.md, \"Prefill outside of graphs\"; without graphs "
      .. "hosts of older GPUs are taken to be no faster than Hopper's" },
  { expert_operations = 8, attention_operations = 24, routing_kernels = 0, layer_kernels = 0, latent_kernels = 0,
    head_norm_kernels = 0,
    source = "as the same record counts a layer of routed experts; what else runs is in the rows of tables" },
  require("engines.rules.router_gemm").default,
  { verifies_in_graphs = true, recurrent_operations = 8,
    source = "drafts are verified in CUDA graphs of their own; operations: 16 ms a step for the 48 recurrent layers of "
      .. "a 27B in Python (vLLM issue 51008), of 40 us each" },
  { architecture = "hopper", compiled_operation_s = 65e-6, source = "the same" },
  { architecture = "blackwell", gpu = { memory_gib_from = 160 }, eager_operation_s = 40e-6,
    source = "the same, on machines of B200 and larger; hosts of other GPUs of Blackwell are taken to be no faster" },
}
