-- What every load script shares: prepared requests, picked at random, and one line of JSON at the end.
-- BENCH_TOKEN is the bearer token; BENCH_RANDOM seeds the choice, so that all variants of a round ask alike.

headers = {
  ["Authorization"] = "Bearer " .. (os.getenv("BENCH_TOKEN") or ""),
  ["Content-Type"] = "application/json",
}
articles = tonumber(os.getenv("BENCH_ROWS") or "100000")
math.randomseed(tonumber(os.getenv("BENCH_RANDOM") or "1"))

function article_number(n)
  return string.format("ART-%07d", n)
end

function done(summary, latency, requests)
  local failed = summary.errors
  io.stderr:write(string.format(
    '{"requests": %d, "seconds": %.6f, "p50": %.4f, "p99": %.4f, '
      .. '"refused": %d, "not connected": %d, "not read": %d, "not written": %d, "timed out": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    failed.status, failed.connect, failed.read, failed.write, failed.timeout
  ))
end
