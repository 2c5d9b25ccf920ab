// Package ratelimit decides whether one more call of a credential may be served: at most PerMinute in any 60
// seconds and PerDay in a calendar day (UTC).
//
// Who calls it: the middleware of /v1 and of /graphql, once per authenticated call and before anything else of the
// call is done. The key it passes names the credential (an API key, or user and client of a bearer token); live
// and test credentials have keys of their own. The server picks Memory on one node and Redis when several share
// their counts, and keeps Memory's day counts in its database through Snapshot and Restore.
//
// What it never does: read a clock (now is the caller's, so that every node follows the product's clock), look at
// companies or the database (what ForCompany needs it is given), write HTTP, log a key, or start a goroutine. It is
// no shield against unauthenticated floods: only known credentials may reach it, since every key costs memory;
// package gate counts strangers in an instance of its own, under a fixed number of keys.
//
// One call:
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
