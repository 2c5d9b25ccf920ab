// Package cells is the design for more companies than one PostgreSQL holds, and a simulation that it rests on. Nothing routes yet.
//
// A cell is an installation as it is: nodes, one PostgreSQL with its replica, a Redis, a master key, workers. It knows nothing of the
// others. Companies are spread over cells, each whole in one, and nothing reads across. So a cell that breaks takes its own
// companies along and no others, releases reach one cell after another, and what was measured of one installation holds.
//
// # The router
//
// A call must reach its company's cell before anybody knows who calls. API keys, session cookies, refresh tokens and the ids of
// inbound webhooks say nothing of a company, and an account belongs to several. What all of a company's callers can know is a name of
// the host: acme.atrium.example. By it a proxy that hands TLS through chooses the cell (SNI; HAProxy and Envoy read such a map
// as it changes), without a key, without opening a call, and without code of ours on the way.
//
//	company → host → cell    the directory: one table, in a database of its own, changed by operators and moves alone
//
// Each router keeps all of it: a million entries are 84 MiB, and are told of changes. A cache of those that were asked for last is no
// better: it would miss 5 to 51 % of the calls with 100,000 entries (below). A router that is late costs one more attempt and
// never a wrong answer, because the cell decides: one that does not have the company, or has it no more, answers 421 Misdirected
// Request. The directory away means that nobody moves and no company is made; calls go on.
//
// Why there is no router here: the product has one base URL. It stands in tokens (issuer and audience), in the cookie's host, in
// redirect addresses and in mails, and accounts and the provider's signing keys are the installation's. Before hosts of companies route, those
// become the company's, and a person with companies in two cells has an account in each. Without that a router had to look into
// a directory of every key, session, refresh token, webhook and e-mail address, and to hold it exact: a second authority. A router for
// two servers is small (a map in a proxy); what it presupposes is not.
//
// # A move
//
//	serving → moving → moved     of the company in its old cell
//	             └──→ serving    by giving up, until the directory has changed
//
// Small: the old cell refuses the company's writes with 503 and Retry-After (reads go on), `atrium company export | import` copy it, the
// directory changes, the old cell answers 421. With 10,000 rows a second (assumed, for both commands together) that is less than a second for
// a company below 10,000 rows: 99 % of the companies, and 12 to 66 % of the load.
//
// Large: writes may not wait for the copy. PostgreSQL 15 publishes tables with a filter on rows (CREATE PUBLICATION … WHERE
// (company_id = …)), so that logical replication copies the company and follows it while it works; then writes are refused, what is left comes over in
// less than a second, the audit log's root is compared as Import does, and the directory changes. It takes the company in each table's
// replica identity, for which 19 of the 54 tables that have a company have the index (company_id, id) today, the same master key in both cells, or sealed
// values that are sealed anew afterwards, and a role that row-level security does not bind.
//
// What is missing for either: a state of the company in which writes are refused, jobs that stand still with it (workers must not act in two
// cells: queues are emptied, Import makes the jobs anew), and 421.
//
// # The simulation
//
// simulation_test.go: 1,000,000 companies whose load is Zipf's with the exponent s, 64 cells. Companies larger than a cell's share have
// one each; the others are put anywhere (how large a new company will be is not known), then moved until no cell has more than 1.2 of the mean.
// Each day one company in a hundred changes its load with another. (`go test -bench . -benchtime 1x ./internal/cells`, 2026-11)
//
//	                                             s = 0.8     1.0     1.2
//	load of the largest company                    1.3 %   6.9 %  19.0 %    a cell's share is 1.6 %
//	cells of one company alone                         0       4      11
//	hottest cell before any move, of the mean       1.9×    2.3×    2.0×
//	moves until none has more than 1.2×            2,254  17,803     127
//	moves a day from then on                        11.4    12.0     2.3
//	companies that move in a second by a copy       99 %    99 %    99 %
//	and their part of the load                      66 %    35 %    12 %
//	calls that a cache of  10,000 entries misses    77 %    42 %    12 %
//	calls that a cache of 100,000 entries misses    51 %    22 %     5 %
//
// So: a hash alone leaves a cell with twice its share, and a directory is needed. Moves are few, a dozen a day, and most of them
// must be the large kind to be worth it. The largest companies are larger than a cell, which no move mends: those need a larger
// server, a replica for their lists (package store), and at last a company that is spread itself. (17,803 are a company of nearly a
// cell's share that finds no cell with room, so that thousands of small ones make it: give it a cell of its own.)
//
// # Citus
//
// Citus would spread one database over servers by the hash of company_id, and needs no router, no directory and no second account. Of
// 65 tables 54 have the column. What it would need of the keys:
//
//   - every primary key and unique index holds the distribution column: 54 primary keys (id) become (company_id, id), and all of the 62 of
//     120 foreign keys that name an id alone get the company (58 have it);
//   - three unique indexes are over all companies on purpose: the hashes of API keys, sessions and refresh tokens. Who calls is found by
//     them before the company is known. They move into a table of their own (hash → company), which every node has;
//   - eleven tables have no company (accounts, factors, sign-ins, settings, signing keys, …): reference tables, on every server, and
//     changed by two-phase commit;
//   - 29 triggers keep counters, announce authority and so on: on distributed tables they are an unsafe setting
//     (citus.enable_unsafe_triggers), and NOTIFY of a server's own reaches nobody who listens at the coordinator;
//   - row-level security and its setting reach the servers only with citus.propagate_set_commands = 'local', which is a statement more
//     for each server and transaction;
//   - River's tables have no company: they stay on the coordinator, and a transaction that files a request and inserts a job is one on two servers, by
//     two-phase commit. That is every create.
//
// The cost: one round trip more for each statement (coordinator, then server), two-phase commit for writes that insert jobs, all that
// sweeps over companies asks every server, SQLite and PostgreSQL have other keys than today (all ids in all foreign keys), and a large company still is
// on one server, since its rows share one hash. It gives what cells do not: one installation to look after. It is refused for now because
// the queue beside the rows, in one transaction, is what everything here rests on.
package cells
