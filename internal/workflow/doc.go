// Package workflow stores the processes that requests run through. A workflow holds one draft, which POST and PATCH
// save; publishing makes it the next version.
//
//	             publish                 archive
//	draft ─────────────────▶ active ◀─────────────▶ archived
//	(version 0)              (version ≥ 1) activate     ▲
//	  ▲                                                 │
//	  └───────────────── archive, and back ─────────────┘
//
// REST and GraphQL run its operations. This package checks that the rows which a definition names exist in the company, and
// that secrets go to their hosts alone (references.go, send.go), and that workflows do not call one another in circles (calls.go). Its rooms:
//
//	definition  what a definition may contain
//	condition   what conditions can read, and trying them before they are kept
//	engine      what a workflow does next: pure functions, no database
//	execution   running workflows: tasks, approvals, calls, incidents
//	schedule    starting workflows and filing requests at planned times
//	trial       what a workflow would do, before it is published
package workflow
