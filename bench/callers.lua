-- Another caller with each request, so that concurrent reads share nothing.
-- Arguments: how many callers there are, the file with a token of each in a line (or none), and, for what is no plain GET,
-- method and body.
local requests, turn = {}, 0

function init(args)
  if args[3] then wrk.method, wrk.body = args[3], args[4] end
  local next = args[2] ~= "none" and io.lines(args[2])
  for caller = 1, tonumber(args[1]) do
    wrk.headers.Authorization = "Bearer " .. (next and next() or "bench-" .. caller)
    requests[caller] = wrk.format()
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end
