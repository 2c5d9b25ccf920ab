package sla

// Target is what a clock runs for.
type Target string

// The targets: until a request is accepted or a task is taken, and until it is done.
const (
	Response   Target = "RESPONSE"
	Resolution Target = "RESOLUTION"
)
