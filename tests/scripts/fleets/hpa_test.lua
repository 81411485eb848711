-- Kubernetes' HPA: its documentation's cases as tables, and what must hold of any sequence.
local algorithm = require "autoscalers.hpa.algorithm"
local test = dofile "tests/scripts/harness.lua"
local check, equal = test.check, test.equal

local default = algorithm.behavior(0, 300, 4, 100, 100, 15)

-- kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale, "Algorithm details", and the cases of
-- pkg/controller/podautoscaler/replica_calculator_test.go: values of pods, pods without a metric, target, replicas
-- before, replicas after.
local of_pods = {
  { { 200, 200 }, 0, 100, 2, 4, "twice the target doubles" },
  { { 50, 50, 50, 50 }, 0, 100, 4, 2, "half the target halves" },
  { { 105, 105 }, 0, 100, 2, 2, "within the tolerance" },
  { { 109, 109 }, 0, 100, 2, 2, "nearly at the tolerance" },
  { { 111, 111 }, 0, 100, 2, 3, "above it" },
  { { 91, 91 }, 0, 100, 2, 2, "below, within" },
  { { 300, 500, 700 }, 0, 300, 3, 5, "mean 500 of 300" },
  { { 150 }, 1, 100, 2, 2, "a pod that starts counts as idle where it would grow, which turns the direction" },
  { { 400 }, 1, 100, 2, 4, "and grows less" },
  { { 20, 20 }, 1, 100, 3, 2, "a missing pod counts as at its target where it would shrink" },
  { {}, 2, 100, 2, 2, "nothing is known" },
}

test("desired replicas of a metric per pod", function()
  for _, case in ipairs(of_pods) do
    local values, missing, target, before, after, what = unpack(case)
    equal(algorithm.of_pods(values, missing, target, 0.1, before), after, what)
  end
end)

test("desired replicas of a metric of the whole", function()
  equal(algorithm.of_whole(100, 10, 0.1, 10), 10)
  equal(algorithm.of_whole(109, 10, 0.1, 10), 10)
  equal(algorithm.of_whole(112, 10, 0.1, 10), 12)
  equal(algorithm.of_whole(0, 10, 0.1, 10), 0)
  equal(algorithm.of_whole(5, 10, 0.1, 0), 1)
end)

--- The numbers of pods of a sequence of desired ones, asked every 15 s.
local function replay(start, desired, behavior, most)
  local state, current, out = algorithm.new_state(), start, {}
  for i, each in ipairs(desired) do
    current = algorithm.step(state, 15 * (i - 1), current, each, 1, most or 100, behavior)
    out[i] = current
  end
  return out
end

local function same(found, expected, what)
  equal(table.concat(found, " "), table.concat(expected, " "), what)
end

test("sequences of recommendations", function()
  same(replay(1, { 10, 10, 10 }, default), { 5, 10, 10 }, "four pods or double in 15 s: 1, 5, 10")
  same(replay(10, { 40, 40, 40 }, default), { 20, 40, 40 }, "double where that is more than four pods")
  local down = {}
  for i = 1, 22 do down[i] = i == 1 and 10 or 2 end
  local kept = replay(10, down, default)
  equal(kept[20], 10, "the largest of 300 s holds")
  equal(kept[21], 2, "then all go at once")
  same(replay(10, { 2, 2, 2 }, algorithm.behavior(0, 0, 4, 100, 10, 60)), { 9, 9, 9 }, "10 % in 60 s")
  same(replay(4, { 8, 6, 8, 8, 8 }, algorithm.behavior(30, 300, 4, 100, 100, 15)), { 8, 8, 8, 8, 8 })
  same(replay(4, { 4, 8, 8, 8 }, algorithm.behavior(30, 300, 4, 100, 100, 15)), { 4, 4, 8, 8 },
    "the smallest of 30 s holds before it grows")
  same(replay(3, { 50 }, default, 5), { 5 }, "no more than there may be")
end)

test("a metric at its target never moves, and one above it never shrinks", function()
  local state = 7
  local function draw(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return math.floor(state / 65536) % n
  end
  for _ = 1, 500 do
    local pods, target = 1 + draw(20), 1 + draw(50)
    local values = {}
    for i = 1, pods do values[i] = target end
    equal(algorithm.of_pods(values, 0, target, 0.1, pods), pods)
    local own, current = algorithm.new_state(), pods
    for step = 1, 50 do
      current = algorithm.step(own, 15 * step, current, algorithm.of_pods(values, 0, target, 0.1, current), 1, 100,
        default)
    end
    equal(current, pods)
    for i = 1, pods do values[i] = target * (2 + draw(3)) end
    check(algorithm.of_pods(values, draw(3), target, 0.1, pods) >= pods)
  end
end)

test.finish()
