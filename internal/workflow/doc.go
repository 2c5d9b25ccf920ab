// Package workflow keeps the processes that requests run through. A workflow holds one draft, which POST and PATCH
// save; publishing makes it the next version.
//
//	             publish                 archive
//	draft ─────────────────▶ active ◀─────────────▶ archived
//	(version 0)              (version ≥ 1) activate     ▲
//	  ▲                                                 │
//	  └───────────────── archive, and back ─────────────┘
//
// Both doors run its operations. What a definition may hold is the business of package definition; that what it names
// exists in the company is checked here.
package workflow
