-- Calls of one key, decided and counted in one step; see doc.go for the rules.
-- KEYS: the log (sorted set: member of a call -> its instant), the day (hash: day, count). Both hold a hash tag.
-- ARGV: now, window and day in microseconds, PerMinute, PerDay, a member no other script's calls have,
--       milliseconds the log outlives its last call, milliseconds the day's count outlives the day, how many calls.
-- Answers {allowed, at, minute, oldest, blocking, day}, the fields of reading in limiter.go.
local log, today = KEYS[1], KEYS[2]
local at, window, day = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local per_minute, per_day, member = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local n = tonumber(ARGV[9])

local function whole(n) return string.format('%.0f', n) end
local function score(found) return tonumber(found[2] or 0) end

at = math.max(at, score(redis.call('ZRANGE', log, -1, -1, 'WITHSCORES')))
local number = whole(math.floor(at / day))
local expired = whole(at - window)

local minute = redis.call('ZCOUNT', log, '(' .. expired, '+inf')
local stored = redis.call('HMGET', today, 'day', 'count')
local used = 0
if stored[1] == number then used = tonumber(stored[2]) end

local allowed = 0
if redis.call('ZSCORE', log, member) then
  allowed = 1 -- the client lost our answer and asks again: it is counted already
elseif minute + n <= per_minute and used + n <= per_day then
  allowed, minute, used = 1, minute + n, used + n
  redis.call('ZREMRANGEBYSCORE', log, '-inf', expired)
  redis.call('ZADD', log, whole(at), member)
  for i = 2, n do redis.call('ZADD', log, whole(at), member .. '/' .. i) end
  redis.call('PEXPIRE', log, ARGV[7])
  redis.call('HSET', today, 'day', number, 'count', whole(used))
  redis.call('PEXPIRE', today, whole(((number + 1) * day - at) / 1000 + ARGV[8]))
end

local oldest, blocking = 0, 0
if minute > 0 then
  oldest = score(redis.call('ZRANGEBYSCORE', log, '(' .. expired, '+inf', 'WITHSCORES', 'LIMIT', 0, 1))
end
if n <= per_minute and allowed == 0 and minute + n > per_minute then
  local from_newest = n - per_minute - 1
  blocking = score(redis.call('ZRANGE', log, from_newest, from_newest, 'WITHSCORES'))
end
return {allowed, at, minute, oldest, blocking, used}
