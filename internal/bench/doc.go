// Command bench measures the product against a floor, side by side in one run, and prints ratios. `make bench` calls it.
//
// The floor is what a careful engineer writes by hand without the product: net/http over the same TLS certificate, the
// same drivers, one statement per read, the same rows written per create (request, event, audit entry in one
// transaction), the same JSON; no authorisation, validation, binding, rate limit or group commit. Both servers are child
// processes of the bench (so that their CPU time can be told apart), and both work on one database: creates of either
// grow it for both, and slices of the two alternate, so that neither ever sees less than the other. Before anything is
// measured, one create of each shows which rows it writes; the run says so when they differ.
//
// The parent is the load: 32 keep-alive connections, with a client that does little more than TLS.
//
//	main.go      flags, the order of things       world.go   database, companies, services, offerings
//	seed.go      requests by bulk SQL             product.go the product's process
//	floor.go     the floor's process              load.go    connections, slices, latencies
//	child.go     processes and their CPU time     report.go  tables
//	pages.go     page 1 of a big and a small company; which rows a create writes
//	floor_sql.go the floor's SQL                 idle.go  resident memory of `atrium serve`
//
// Nothing here is a timed assert: the exit status is 0 unless something broke, or a bound was missed with -strict.
package main
