package sla

// Target names one of the two clocks.
type Target string

// Response is met when a request has its first response or a task is taken, Resolution when it is completed.
const (
	Response   Target = "RESPONSE"
	Resolution Target = "RESOLUTION"
)
