// Command bench measures the product side by side with something else in one run, and prints ratios, which hold on a
// busy machine better than figures do. `make bench` calls it.
//
//	get, list, list-priority, create   the product over the floor
//	edges                              GraphQL's list with service, offering and creator over REST's list
//	idle                               resident memory of `atrium serve`
//
// The floor is what a careful engineer writes by hand without the product: net/http over the same TLS certificate, the
// same drivers, one statement per read and no total, the rows of a create (request, event, audit entry) in one
// transaction, the same JSON; no authorisation, validation, binding, rate limit or group commit. Both servers are child
// processes of the bench, so that their CPU time can be told apart, and work on one database: creates of either grow it
// for both, and slices of the two alternate. The parent is the load: 32 keep-alive connections, with a client that does
// little more than TLS.
//
//	main.go      flags, the order of things     world.go   database, company, services, requests
//	workload.go  what is asked for              product.go the product's process
//	load.go      connections, slices            floor.go, floor_sql.go the floor's process
//	process.go   processes, CPU time, memory    report.go  tables
//
// Nothing here is a timed assert: the exit status is 0 unless something broke, or a bound was missed with -strict. What
// decisions cost, authz's own benchmarks tell.
package main
