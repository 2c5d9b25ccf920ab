// Package workflow stores the processes that requests run through. A workflow holds one draft, which POST and PATCH
// save; publishing makes it the next version.
//
//	             publish                 archive
//	draft ─────────────────▶ active ◀─────────────▶ archived
//	(version 0)              (version ≥ 1) activate     ▲
//	  ▲                                                 │
//	  └───────────────── archive, and back ─────────────┘
//
// REST and GraphQL run its operations. Package definition checks what a definition may contain; this package checks
// that the rows which it names exist in the company.
package workflow
