// Package feed tells those who watch on this node which rows have changed on any node.
//
//	transactions on all nodes ──▶ rows that they write anyway: audit entries, deliveries, executions, tasks
//	                                         │
//	     a poller a kind and node, while somebody watches: 4 looks a second, and one after every commit of this process
//	                                         │  what was not seen before
//	                                         ▼
//	              subscriptions: what is waiting, by row, 1,000 rows at most ──▶ Ready, Take
//
// Nothing is written for it, so that watching costs those who write nothing; nothing is announced, so that what a node
// committed before it was killed is found by the others. A look reads all companies that are watched in one statement.
//
// # Where changes are found
//
// Requests are found in the audit log, whose primary key is in the order of time. That finds every change, because operations
// alone change requests, those that a worker runs included (op.RunIn), and every operation writes an entry in its transaction;
// a test refuses code that changes a request in any other way. A comment is a change of its request: the look joins the entries
// of comments with their rows, and so says which were for staff alone. The column updated_at would not depend on entries, but needs
// one more index on the table that is written most, in the order of time over all companies.
//
// Deliveries are found by their column updated_at, which every write sets and an index of theirs is ordered by: workers
// attempt them hundreds of times a second, which the audit log is not told of.
//
// Notifications are found by their ids: they are only added.
//
// Executions and tasks are found in the same way as deliveries: most steps of an execution have no audit entry, and a cancel ends
// all open tasks in one statement. A row whose two times are the same is new.
//
// A new kind is one row of the table in kind.go: whose clock its rows are ordered by, and the statement
// that reads those after a place. If it is found in the audit log, add its entity to the test.
//
// # Late commits
//
// Rows become visible in another order than that of their ids and times: a transaction may commit after others that began
// later, and the clocks of nodes differ. Each look goes back a little, one in two seconds goes back ten (window), and what was
// told is remembered for as long. So a change is told late, never not at all, while commits take less than that and the
// nodes' clocks agree as well. What was missed while the database was away is read when it is back.
//
// A Change says that a row changed and no more: not what it holds, nor who may see it. The receiver reads the row as
// the subscriber. Changes of one row that nobody has taken become one. When a subscription has more rows waiting than it
// holds, or the feed cannot tell what was missed, Take fails from then on: its caller has to read everything anew and
// subscribe again.
//
// Who calls it: graph, for subscriptions. It decides nothing and never writes.
package feed
