package rest

import "atrium/internal/op"

// Row is a row of the route table, for the tests that go through all of them.
type Row struct {
	Method, Path string // below /v1
	Status       int    // of success
	Op           *op.Info
}

// Table returns the route table.
func Table() []Row {
	out := make([]Row, len(routes))
	for i, rt := range routes {
		out[i] = Row{Method: rt.method, Path: rt.path, Status: rt.status, Op: rt.op}
	}
	return out
}
