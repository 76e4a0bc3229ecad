-- GET products after a random timestamp out of the file BENCH_STAMPS.
dofile("report.lua")

local prepared = {}

function init()
  for stamp in io.lines(os.getenv("BENCH_STAMPS")) do
    prepared[#prepared + 1] = wrk.format("GET", "/api/bench/v1/products?timestamp=" .. stamp, headers)
  end
end

function request()
  return prepared[math.random(#prepared)]
end
