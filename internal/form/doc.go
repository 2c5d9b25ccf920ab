// Package form holds the forms of offerings: what an admin may define, and what a requester may answer.
//
// A Definition is checked once, when the offering is saved (Check), compiled once per version (Compile), and then
// judges any number of answers (Form.Validate). An offering without a form takes any answers within bounds (Free).
// The request and offering services call it for both doors; the workflow engine calls it for the tasks of PROCESS
// phases.
//
// A field that names others in visibleWhen is shown only while all its conditions hold:
//
//	               every condition holds
//	      ┌────────────────────────────────────────► shown    required fields must be answered
//	field ┤ one does not, or names an unanswered
//	      ├────────────────────────────────────────► hidden   any value is refused as not shown
//	      │ otherwise, one rests on a refused value
//	      └────────────────────────────────────────► unsure   a value is checked, its absence excused
//
// "Unsure" keeps one wrong answer to one row: who mistypes the field that controls five others is told of that
// field alone.
//
// Each fault is one row that names the offending field and never repeats the refused value. Rows come in form order, so
// the same input always gives the same answer.
//
// The package is pure: it reads no database and no clock, and it never changes, completes or converts a value. Whether
// users and teams exist is asked of the caller, through Lookups. What it compiles is immutable and safe for
// concurrent use.
package form
