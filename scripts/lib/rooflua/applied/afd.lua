-- Which releases of engines have AFD, experts on GPUs of their own (deployment.expert_gpus): `experts_apart` of their
-- rules. The price of others is that of an engine that has it.
local afd = {}

--- A sentence for every output; nil where the experts have no GPUs of their own, or the release has AFD.
--- @param resolved table of values.of
--- @param expert_gpus any what the scenario says
function afd.note(resolved, expert_gpus)
  if type(expert_gpus) ~= "number" or expert_gpus == 0 or resolved.values.experts_apart ~= false then return nil end
  return ("deployment.expert_gpus: %s %s has no AFD (%s): the price is that of an engine "
    .. "with its kernels that has it, and no launch command says it"):format(resolved.engine.name, resolved.release,
    resolved.sources.experts_apart)
end

--- Why no launch command says what a candidate of a plan has; nil where it has no AFD.
function afd.without_command(candidate)
  if not candidate.expert_gpus then return nil end
  return ("no release of %s that is known has AFD, so no command says it"):format(candidate.engine)
end

return afd
