// Package requestimport brings the requests of another system in, as a CSV table.
//
//	CHECKED ── start ──▶ RUNNING ──▶ COMPLETED
//	   │                    │
//	   └────── stop ────────┴──────▶ STOPPED
//
// import.go has the operations, table.go reads the table and says what each column is, row.go makes a request of a row, names.go finds
// what a row names, and work.go is the job.
//
// A dry run checks all rows and keeps what it found; starting it, or a call without one, runs the job. The job brings rows in for
// 4 ms at a time, 25 at most: each as whoever brings them in, by the operation request.import, with its audit entry, and the progress in the same
// transaction. So a node that is killed goes on where the last transaction ended, and a right or a policy that ends meanwhile ends the
// import's rows. 5,000 rows took 13.5 s on SQLite (2026-11, two busy cores, loopback), and others' requests were filed in 23 to 123 ms
// beside it, with 25 rows in a transaction; with 100, which hold the one writer longer, it was 12.7 s, and 85 to 232 ms.
//
// A row with a key, the old system's id, gets an id that is made of the company, the source and the key: the same row brought in twice
// is one request. The key stays in the tag import.id.
//
// A table has at most 5,000 rows and comes in the body of a call, which holds a mebibyte; larger ones come in parts, as the console
// sends them. The text is removed when the import ends, and the import 30 days later.
package requestimport
