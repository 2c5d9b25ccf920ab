// Package form holds the forms of offerings: what an admin may define, and what a requester may answer.
//
// A Definition is checked once, when the offering is saved (Check), compiled once per version (Compile), and then validates any
// number of answers (Form.Validate). An offering without a form takes any answers within bounds (ValidateWithoutForm). The
// operations on offerings and requests call it, and package execution does for the tasks of PROCESS phases, with the forms that
// workflow/definition compiles.
//
// A field that names others in visibleWhen is shown only while all its conditions hold:
//
//	               every condition holds
//	      ┌────────────────────────────────────────► shown    required fields must be answered
//	field ┤ one does not, or names an unanswered field
//	      ├────────────────────────────────────────► hidden   any value is refused as not shown
//	      │ otherwise, one depends on a refused value
//	      └────────────────────────────────────────► unsure   a value is checked, a missing one is allowed
//
// "Unsure" keeps one wrong answer to one detail: a mistyped value in a field that controls five others is reported for that field
// alone.
//
// Each fault is one detail, which names the field and never repeats the refused value. Details come in form order, so the same
// input always gives the same answer.
//
// The package is pure: it reads no database and no clock, and it never changes, completes or converts a value. Through Lookups it
// asks the caller which users, teams and files exist. What it compiles is immutable and safe for concurrent use.
package form
