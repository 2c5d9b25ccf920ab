// Package sla computes working time with calendars of working hours in a time zone, and derives from it the state of a request
// or a task against its service levels.
//
// # Calendars
//
// A Calendar is built once from the settings of a company and answers three questions: when a duration of working time has
// passed since a time (Add), how much working time lies between two times (Between), and when working time begins again (Next).
// On days with a change of daylight saving time it counts the time at which the local clock shows working hours: 01:00 to 05:00
// is three hours long in the night when the clock goes forward, and five when it goes back. A property test compares this with
// a count of minutes.
//
// It goes nowhere from day to day: a calendar sums its working time up when it is built (sums.go), by weekday, by day with hours of its
// own and by change of the clocks, and searches these sums. So a due time costs 0.7 to 0.9 µs, be it near, in nineteen years or never
// (BenchmarkAdd, 2026-11, two busy cores). The walk is the oracle of a property test.
//
// # Clocks
//
//	          ┌──── pause ────┐
//	ON_TRACK ─┴▶ PAUSED ──────┴▶ ON_TRACK ─▶ WARNING ─▶ BREACHED
//	   └────────────── all targets ended in time ─▶ MET
//
// Derive computes a Clock from a log: when a request was filed, accepted and ended, when it was paused, and which warnings,
// breaches and escalations have fired. It is a function of the log, the levels, the calendar, the priority and the time.
// Nothing is counted down: the rows store the last result of Derive (due times, state, next time) for lists and for the sweep,
// and every transaction that changes an input derives it again. A property test compares it with a count of minutes, over
// zones, changes of daylight saving time, pauses, priorities and jumps in time.
//
// The API's description leaves these points open; they were decided here:
//
//   - Targets that run use the current levels, calendar and priority, as if these had applied from the start. A target or a
//     request that has ended keeps its result.
//   - A pause stops the resolution clock, not the response clock. During a pause the resolution has no due time, and nothing of
//     it fires. A pause does not undo BREACHED.
//   - Each target warns once and is breached once, and each escalation acts once, however the due time moves afterwards. It does not
//     warn any more once it is missed: "due soon" after "late" would be wrong.
//   - What ends exactly at its due time is late. A cancelled request needs no response any more.
//   - With a warnAtPercent of 0 there are no warnings. The minutes of an escalation count on its target's clock, from the filing.
//
// Deriving a log of fifty events over a month takes 40 µs (2026-11, two cores).
//
// The package is pure: it reads no database and no clock, and imports nothing of the product, because ent/schema imports it. Its room
// timer stores logs and clocks, and finds what has fallen due. The workflow engine uses calendars for timers.
package sla
