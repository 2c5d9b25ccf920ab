// Package ratelimit is where limits are counted: how many calls or attempts of one kind are taken from one key within a
// window.
//
//	what is counted            by              in                              limit
//	calls of a credential      gate.Guard      Limiter: Memory, or Redis where Limit, by plan and company: per minute
//	                                           several nodes share counts      and per day
//	anonymous calls            gate.Anonymous  the same Redis, else a Memory   gate.Allowance
//	open streams               graph           this node, and Seats in Redis   graph.StreamLimits
//	proofs, messages, mails    throttle        Counter: rows in the database   Attempts: a window, or growing pauses
//
// Where Redis is away each node counts alone, with what it has seen itself (Failover): callers are neither refused for it nor
// unlimited. A call waits 2 s for Redis at most, and after a failure one call a second asks it. With 250 ms, 400 calls at once on
// two busy cores were enough to make a node count alone.
//
// A Limiter counts calls: at most PerMinute in any 60 seconds and PerDay in a calendar day (UTC). Guard asks it once per
// authenticated call, before anything else of the call is done. The key names the credential (an API key, or user and client
// of a bearer token); live and test credentials have keys of their own. Every key costs memory, so only known credentials may
// be keys; gate.Anonymous counts under a fixed number of keys. DayCounts keeps a Memory's day counts in the database across
// restarts.
//
// A Counter counts attempts that are rare and must be known to all nodes, also after a restart: one row each (Throttle).
//
// The package never decides what is counted or what a refused caller is told, writes no HTTP and logs no key. A Limiter reads
// no clock: now is the caller's, so that every node follows the product's clock.
//
// One call of a Limiter:
//
//	          ┌ calls in (now-60s, now] ≥ PerMinute ┐
//	Take ─────┤                                     ├──> refused: nothing is counted, RetryAfter says when
//	   │      └ calls of this UTC day   ≥ PerDay    ┘
//	   └ neither ──> allowed: counted in both windows at once
//
// The minute is a sliding log: the instant of every allowed call is kept until it is 60 s old, and a call that is
// exactly 60 s old no longer counts. Instants are cut to microseconds (the product's clock ticks in milliseconds).
//
// A key's time never runs backwards: a call whose now lies before the newest counted call (another goroutine or
// node was faster) is counted at that newest instant. When a clock is set back by a minute or more, Memory counts
// the calls of the last minute as made just now, so a key is free again after 60 s at the latest; Redis keeps to
// the later time until the log expires there, 120 s after the last allowed call. Neither ever allows more for it
// within a minute; a day that is entered a second time starts at zero.
package ratelimit
