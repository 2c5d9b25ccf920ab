// Package sla counts time as companies do, by working hours in a time zone, and derives from that where a request or a task
// stands against what was promised.
//
// # Calendars
//
// A Calendar is built once from what a company saved and then answers three questions: which moment is so much working
// time after another (Add), how much working time lies between two moments (Between), and when work goes on (Next).
// On the days on which clocks change it counts the moments at which the clock shows a working minute: a stretch from 01:00
// to 05:00 has three hours on the night when the clock goes forward and five when it goes back. A property test holds that
// against a count of minutes.
//
// # Clocks
//
//	          ┌──── pause ────┐
//	ON_TRACK ─┴▶ PAUSED ──────┴▶ ON_TRACK ─▶ WARNING ─▶ BREACHED
//	   └────────────── all targets ended in time ─▶ MET
//
// Derive makes a Clock of a log: when a request was filed, accepted and ended, when it stood still, and what has been set off.
// It is a function of the log, the levels, the calendar, the priority and the moment. Nothing is counted down anywhere: what the
// rows keep (due times, state, the next moment) is what Derive said last, for lists and the sweep, and is derived anew in the
// transaction of whatever moves it. A property test holds it against a count of minutes, over zones, nights on which clocks
// change, pauses, priorities and jumps of time.
//
// The rules that the contract leaves open:
//
//   - The levels, the calendar and the priority of now count, as if they had been so from the start, for targets that run. A
//     target that has ended stays as it was judged, and so does a request that has.
//   - A pause stops the clock of the resolution, not that of the response. While it lasts, there is no due time and nothing of the
//     resolution fires. It does not undo BREACHED.
//   - Each target is warned of once and missed once, each escalation acts once, whatever moves the due time afterwards.
//   - What ends at the very moment at which it is due is late. What was cancelled needed no answer any more.
//   - Without warnAtPercent nobody is warned. The minutes of an escalation count on its target's clock, from the filing.
//
// Deriving a log of fifty events over a month takes 40 µs (2026-11, two cores).
//
// The package is pure: it reads no database and no clock, and imports nothing of the product. Packages request and execution
// keep the logs and the rows; the workflow engine counts timers by calendars.
package sla
