-- POST products/find with a random article number.
dofile("report.lua")

local prepared = {}

function init()
  for n = 1, 20000 do
    local body = '{"article_number": "' .. article_number(math.random(articles)) .. '"}'
    prepared[n] = wrk.format("POST", "/api/bench/v1/products/find", headers, body)
  end
end

function request()
  return prepared[math.random(#prepared)]
end
