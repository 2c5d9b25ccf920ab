// Package request is the life of a request: filed against an offering, accepted, completed or cancelled.
//
//	            accept                complete
//	PENDING ─────────────▶ IN_PROGRESS ─────────▶ COMPLETED
//	   │                        │
//	   └──────── cancel ────────┴───────────────▶ CANCELLED
//
// create.go files one, update.go edits it, transition.go moves it along the arrows, list.go finds them, event.go says
// what subscribers are told. COMPLETED and CANCELLED are final. Each arrow writes one event and one audit entry in the
// transaction that changes the row. The package never delivers events and never runs workflows.
package request
