-- One holder's seats, taken in every place or in none, or renewed.
-- KEYS: the places (sorted set: holder -> when its seat lapses, in milliseconds). They share a hash tag.
-- ARGV: the holder, milliseconds that a seat is kept, then how many seats each place has.
-- Answers 0, or the number of the first place that is full.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local holder, life = ARGV[1], tonumber(ARGV[2])

for i, place in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', place, '-inf', now)
  if not redis.call('ZSCORE', place, holder) and redis.call('ZCARD', place) >= tonumber(ARGV[2 + i]) then
    return i
  end
end
for _, place in ipairs(KEYS) do
  redis.call('ZADD', place, now + life, holder)
  redis.call('PEXPIRE', place, life)
end
return 0
