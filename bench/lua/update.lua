-- PUT products: a random product gets a new designation2 and feature1.
dofile("report.lua")

local template = '{"article_number": "%s", "product": {"designation": "Gewindebolzen M%d, verzinkt", '
  .. '"designation2": "threaded stud, batch %d", "feature1": "length %d mm, shaft ground on both ends"}}'

function request()
  local body = string.format(template, article_number(math.random(articles)), math.random(4, 48),
    math.random(1e6), math.random(1000))
  return wrk.format("PUT", "/api/bench/v1/products", headers, body)
end
