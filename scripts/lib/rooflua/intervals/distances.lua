-- How far the price of a step is off on a GPU of which nobody measured kernels, or of which there are few rows: 4 and
-- 96 % quantiles of log(measured / priced) of steps of other GPUs that were priced so, each GPU with one weight.
-- `rows`: from so many rows of the GPU on. Made by tests/fidelity/distances.lua; docs/GPUS.md has the errors behind it.
return {
  gpus = 10,
  { name = "a", rows = 0, decode = { -0.329, 0.152 }, prefill = { -0.280, 0.320 } },
  { name = "b", rows = 20, decode = { -0.250, 0.084 }, prefill = { -0.340, 0.252 } },
  { name = "c", rows = 100, decode = { -0.263, 0.074 }, prefill = { -0.349, 0.105 } },
  { name = "d", rows = 1000, decode = { -0.280, 0.041 }, prefill = { -0.234, 0.113 } },
}
