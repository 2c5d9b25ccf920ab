// Command bench compares the product with a reference server in one run and prints ratios, which depend less on a busy machine
// than absolute figures do. `make bench` calls it.
//
//	get, list, list-priority, create   the product over the floor
//	edges                              GraphQL's list with service, offering and creator over REST's list
//	idle                               resident memory of `atrium serve`
//
// The floor is the reference server: what a careful engineer writes by hand without the product. It uses net/http over the same
// TLS certificate, the same drivers, one statement per read without a total, the rows of a create (request, event, audit entry)
// in one transaction, and the same JSON. It has no authorisation, validation, binding, rate limit or group commit. Both servers
// are child processes of the bench, so that their CPU time is measured separately. They work on one database: creates of either
// grow it for both, and slices of load on the two alternate. The parent process makes the load: 32 keep-alive connections, with a
// client that does little more than TLS.
//
// The product's process is REST and GraphQL behind the real front, gate and limits, on an engine without event subscribers, job
// queue and decision log, so its create leaves out the statements of webhooks, workflows and agents; -binary measures `atrium
// serve` with all of them.
//
//	main.go      flags, the order of things     world.go   database, company, services, requests
//	workload.go  the requests                   product.go the product's process
//	load.go      connections, slices            floor.go, floor_sql.go the floor's process
//	process.go   processes, CPU time, memory    report.go  tables
//
// The product's rate must be at least this share of the other server's: get 0.8, list and list-priority 0.65, edges 0.6, create
// 1.2 (0.75 on PostgreSQL). An idle server may use 90 MiB. No figure fails the run by default: the exit status is 0 unless
// something broke, or a bound was missed with -strict. The cost of access decisions is measured by the benchmarks of package
// authz.
//
// To run it without the other benchmarks, quickly and roughly: `.ci/with-services.sh --durable go run ./internal/test/bench -quick`.
package main
