// Package ratelimit counts calls and attempts per key and limits their number within a window.
//
//	what is counted            by              in                              limit
//	calls of a credential      gate.Guard      Limiter: Memory, or Redis when  Limit, by plan and company: per minute
//	                                           several nodes share counts      and per day
//	bytes of bodies            gate.ReadBody,  Bytes, in the same Limiter      Limit, by plan and company: per minute
//	of a company               inbound.Door                                    and per day, all callers together
//	anonymous calls            gate.Anonymous  the same Redis, else a Memory   gate.Allowance
//	open streams               graph           this node, and Seats in Redis   graph.StreamLimits
//	proofs, messages, mails    throttle        Counter: rows in the database   Attempts: a window, or growing pauses
//
// While Redis is unreachable, each node counts alone, starting from what it has seen itself (Failover): callers are neither
// refused for that reason nor unlimited. A call waits at most 2 s for Redis, and after a failure one call a second tries Redis.
// With a limit of 250 ms, 400 concurrent calls on two busy cores were enough to make a node count alone.
//
// A Limiter counts calls: at most PerMinute in any 60 seconds and PerDay in a calendar day (UTC). Guard asks it once per
// authenticated call, before any other work for the call. The key names the credential: an API key, or the user and the client
// of a bearer token. Live and test credentials have different keys. Every key takes memory, so only known credentials may be
// keys; gate.Anonymous uses a fixed number of keys. DayCounts stores a Memory's day counts in the database across restarts.
//
// Bytes counts the bytes of bodies in units of 64 KiB: a Limiter keeps a time for each. What makes no unit yet is kept in the process.
//
// A Counter counts attempts that are rare and must be known to all nodes and after a restart. Each is one row (Throttle).
//
// Memory has one mutex: on two cores a call takes 0.15 µs with it, and took the same with 64 shards of the keys.
//
// The package does not decide what is counted or what a refused caller is told. It writes no HTTP and logs no keys. A Limiter
// reads no clock: the caller passes now, so that every node uses the product's clock.
//
// One call of a Limiter:
//
//	          ┌ calls in (now-60s, now] ≥ PerMinute ┐
//	Take ─────┤                                     ├──> refused: nothing is counted, RetryAfter says when
//	   │      └ calls of this UTC day   ≥ PerDay    ┘
//	   └ neither ──> allowed: counted in both windows at once
//
// The minute is a sliding log: the time of every allowed call is kept until it is 60 s old. A call that is exactly 60 s old no
// longer counts. Times are truncated to microseconds (the product's clock has a resolution of milliseconds).
//
// A key's time never runs backwards: a call with a now before the newest counted call (another goroutine or node was faster) is
// counted at the time of that newest call. When a clock is set back by a minute or more, Memory treats the calls of the last
// minute as made just now, so a key is free again after at most 60 s; Redis keeps the later time until the log expires, 120 s
// after the last allowed call. Neither allows more calls within a minute because of it. A day that begins a second time starts
// at zero.
package ratelimit
