-- How many times as far the ends of intervals/residuals.lua are for runs that are over before they are steady
-- (intervals/kinds.lua): {low, high}. Made by tests/fidelity/closed_loop_intervals.lua; intervals/making.lua says how.
return { deployments = 50, points = 139,
  tpot = { 1.125, 3.803 }, ttft = { 1.753, 1.270 }, e2e = { 2.088, 3.103 } }
