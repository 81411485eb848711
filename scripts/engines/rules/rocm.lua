--- Rules of engines on AMD's GPUs. A kernel of a HIP graph waits for the end of the one in front, and rows of AITER
--- have kernels' own times alone, without what lies between two.
local cdna = { "cdna3", "cdna4" }

return {
  fitted = true,
  { architecture = cdna, launches_apart = true, launch_apart_s = 4.4e-6,
    source = "fitted, leaving deployments out: docs/records/fitted.md, \"Between kernels of HIP graphs\"" },
  { architecture = cdna, compiled_operation_s = 60e-6, eager_operation_s = 60e-6,
    source = "fitted, leaving deployments out: docs/records/fitted.md, \"Prefill outside of graphs\"" },
}
