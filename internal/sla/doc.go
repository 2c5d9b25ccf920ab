// Package sla counts time as companies do: by working hours in a time zone.
//
// A Calendar is built once from what a company saved and then answers three questions: which moment is so much working
// time after another (Add), how much working time lies between two moments (Between), and when work goes on (Next).
// On the days on which clocks change it counts the moments at which the clock shows a working minute: a stretch from 01:00
// to 05:00 has three hours on the night when the clock goes forward and five when it goes back. A property test holds that
// against a count of minutes.
//
// The workflow engine calls it for timers with a calendar. The package is pure: it reads no database and no clock, and a
// Calendar is immutable.
package sla
