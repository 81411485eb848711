-- Which releases of engines run attention and experts apart on GPUs (deployment.expert_gpus): `experts_apart` of their
-- rules. The price of others is that of an engine that does.
local apart = {}

--- A sentence for every output; nil where nothing is apart, or the release does it.
--- @param resolved table of values.of
--- @param expert_gpus any what the scenario says
function apart.note(resolved, expert_gpus)
  if type(expert_gpus) ~= "number" or expert_gpus == 0 or resolved.values.experts_apart ~= false then return nil end
  return ("deployment.expert_gpus: %s %s does not run attention and experts apart (%s): the price is that of an engine "
    .. "with its kernels that does, and no launch command says it"):format(resolved.engine.name, resolved.release,
    resolved.sources.experts_apart)
end

return apart
