-- Another of 1000 callers with each request, so that concurrent reads share nothing.
local caller = 0
function request()
  caller = (caller + 1) % 1000
  return wrk.format(nil, nil, { Authorization = "Bearer bench-" .. caller })
end
