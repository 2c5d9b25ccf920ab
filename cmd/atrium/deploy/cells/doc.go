// Package cells documents the design for more companies than one PostgreSQL can hold, with the simulation that supports it
// (simulation_test.go). It holds no code of the product and nothing calls it: nothing routes between cells yet.
//
// A cell is an installation as it exists today: nodes, one PostgreSQL with its replica, a Redis, a master key, workers. Cells do
// not know of each other. Each company lives in exactly one cell, and no query spans cells. So a failing cell affects only its
// own companies, releases reach one cell after another, and measurements of one installation remain valid.
//
// # The router
//
// A call must reach its company's cell before the caller is authenticated. API keys, session cookies, refresh tokens and the ids
// of inbound webhooks do not name a company, and an account belongs to several. What all callers of a company can know is a host
// name: acme.atrium.example. A proxy that passes TLS through chooses the cell by it (SNI; HAProxy and Envoy can reload such a map
// while running). The proxy needs no TLS key, does not read the call, and runs no code of ours.
//
//	company → host → cell    the directory: one table, in a database of its own, changed by operators and moves alone
//
// Each router holds the whole directory: a million entries take 84 MiB, and changes are pushed to the routers. A cache of the
// entries used last is no substitute: with 100,000 entries it would miss 5 to 51 % of the calls (below). A stale router costs one
// more attempt but never gives a wrong answer, because the cell decides: a cell that does not have the company, or no longer has
// it, answers 421 Misdirected Request. While the directory is down, no company can be moved or created; calls continue.
//
// Why there is no router yet: the product has one base URL. It is part of tokens (issuer and audience), the cookie's host,
// redirect addresses and mails, and the installation owns the accounts and the provider's signing keys. Before host names of
// companies can route calls, those have to belong to the company, and a person with companies in two cells needs an account in
// each. Without that, a router would need an exact directory of every key, session, refresh token, webhook and e-mail address: a
// second source of authority. A router for two servers is small (a map in a proxy); its preconditions are not.
//
// # A move
//
//	serving → moving → moved     state of the company in its old cell
//	             └──→ serving    when the move is given up; possible until the directory has changed
//
// Small companies: the old cell refuses the company's writes with 503 and Retry-After (reads continue), `atrium company export |
// import` copies it, the directory changes, and the old cell answers 421. At 10,000 rows a second (assumed, for both commands
// together) this takes less than a second for a company below 10,000 rows: 99 % of the companies, with 12 to 66 % of the load.
//
// Large companies: writes cannot wait for the copy. PostgreSQL 15 can publish tables with a row filter (CREATE PUBLICATION …
// WHERE (company_id = …)), so that logical replication copies the company and follows its changes while it works. Then writes are
// refused, the rest is replicated in less than a second, the audit log's root is compared as Import does, and the directory
// changes. This needs: the company in each table's replica identity, for which 19 of the 54 tables that have a company have the
// index (company_id, id) today; the same master key in both cells, or sealed values that are resealed afterwards; and a role that
// bypasses row-level security.
//
// Missing for both: a state of the company in which writes are refused; a way to stop its jobs at the same time (workers must not
// act in two cells: the queues stop, and the jobs move with the file); and the answer 421.
//
// # The simulation
//
// simulation_test.go models 1,000,000 companies in 64 cells, with loads that follow Zipf's law with the exponent s. A company
// larger than a cell's share gets a cell of its own. The others are placed at random (the future size of a new company is
// unknown), then moved until no cell has more than 1.2 times the mean load. Each day one company in a hundred swaps its load with
// another. (`go test -bench . -benchtime 1x ./cmd/atrium/deploy/cells`, 2026-11)
//
//	                                             s = 0.8     1.0     1.2
//	load of the largest company                    1.3 %   6.9 %  19.0 %    a cell's share is 1.6 %
//	cells that hold only one company                   0       4      11
//	hottest cell before any move, of the mean       1.9×    2.3×    2.0×
//	moves until none has more than 1.2×            2,254  17,803     127
//	moves a day after that                          11.4    12.0     2.3
//	companies that move within a second by a copy   99 %    99 %    99 %
//	and their part of the load                      66 %    35 %    12 %
//	calls that a cache of  10,000 entries misses    77 %    42 %    12 %
//	calls that a cache of 100,000 entries misses    51 %    22 %     5 %
//
// Conclusions: a hash alone leaves a cell with twice its share, so a directory is needed. Moves are few, a dozen a day, and most
// of them have to be the large kind to have an effect. The largest companies exceed a cell, and moves do not help there: they
// need a larger server, a replica for their lists (package store), and in the end a company that is itself spread over servers.
// (The 17,803 moves come from one company of nearly a cell's share that fits into no cell, so that thousands of small ones are
// moved out of its cell instead: give it a cell of its own.)
//
// # Citus
//
// Citus would spread one database over servers by the hash of company_id, and needs no router, no directory and no second
// account. 54 of the 65 tables have the column. It would require of the schema:
//
//   - every primary key and unique index contains the distribution column: 54 primary keys (id) become (company_id, id), and the 62 of
//     120 foreign keys that name only an id get the company as well (58 have it);
//   - three unique indexes span all companies on purpose: the hashes of API keys, sessions and refresh tokens. They identify the caller
//     before the company is known. They move into a table of their own (hash → company), which every node has;
//   - eleven tables have no company (accounts, factors, sign-ins, settings, signing keys, …): they become reference tables, which are on
//     every server and are changed by two-phase commit;
//   - 29 triggers keep counters, announce changes of authority and so on: on distributed tables they need an unsafe setting
//     (citus.enable_unsafe_triggers), and a NOTIFY on a worker server does not reach listeners at the coordinator;
//   - row-level security and its setting reach the worker servers only with citus.propagate_set_commands = 'local', which adds a
//     statement for each server and transaction;
//   - River's tables have no company: they stay on the coordinator, so a transaction that files a request and inserts a job spans two
//     servers and needs two-phase commit. That is every create.
//
// The cost: one more round trip for each statement (coordinator, then server); two-phase commit for writes that insert jobs;
// every sweep over companies queries every server; SQLite and PostgreSQL get other keys than today (all ids in all foreign keys);
// and a large company still lives on one server, since its rows share one hash. The gain over cells: only one installation to
// operate. Citus is refused for now because the product relies on a queue that is in one transaction with the rows.
package cells
