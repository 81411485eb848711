-- A scene whose answers are foretold: what scenes.lua has of it.
--- Every other request comes with a prediction of its answer, and one runs at a time.
return function(served, one)
  local function requests()
    local sent = 0
    return function()
      sent = sent + 1
      if sent <= 12 then
        return 0.001 * sent, 100 + 40 * (sent % 5), 20, { predicted_output_tokens = sent % 2 == 0 and 150 or nil }
      end
    end
  end
  local Foretold = require("rooflua.policy").define { name = "foretold", doc = "Some answers are predicted." }
  Foretold.requests = requests
  return served { scheduler = require("rooflua.policy").with(one, { max_num_seqs = 1 }), workload = Foretold {} }
end
