-- Another caller with each request, so that concurrent reads share nothing.
-- Arguments: how many callers there are and, for what is no plain GET, method and body.
local requests, turn = {}, 0

function init(args)
  if args[2] then wrk.method, wrk.body = args[2], args[3] end
  for caller = 1, tonumber(args[1]) do
    wrk.headers.Authorization = "Bearer bench-" .. caller
    requests[caller] = wrk.format()
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end
