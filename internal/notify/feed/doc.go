// Package feed tells watchers on this node which rows have changed on any node.
//
//	transactions on all nodes ──▶ rows that they write anyway: audit entries, deliveries, notifications, executions, tasks, agent runs
//	                                         │
//	     one poller per kind and node, while there are watchers: 4 looks a second, and one after every commit of this process
//	                                         │  changes not reported before
//	                                         ▼
//	              subscriptions: pending changes by row, at most 1,000 rows ──▶ Ready, Take
//
// A look is one read of the rows that changed lately, for all watched companies in one statement. Writers do nothing for the
// feed, so watching costs them nothing, and other nodes find the changes that a node committed before it was killed.
//
// # Where changes are found
//
// Changes of requests are found in the audit log, whose primary key is ordered by time. The audit log has every change, because
// only operations change requests, also in workers (op.RunIn), and every operation writes an entry in its transaction. A test
// refuses code that changes a request in any other way. A comment is a change of its request: the look joins the entries of
// comments with their rows, and so tells which comments are internal. Reading by the column updated_at would not depend on
// entries, but needs one more index, ordered by time over all companies, on the table that is written most.
//
// Changes of deliveries are found by their column updated_at, which every write sets and which an index is ordered by. Workers
// attempt deliveries hundreds of times a second without audit entries.
//
// Notifications and audit entries are found by their ids: they are only added.
//
// Executions, tasks and agent runs are found like deliveries: most steps of an execution have no audit entry, and a cancel ends
// all open tasks in one statement. A row is new if its created_at equals its updated_at.
//
// A new kind is one row of the table in kind.go: the clock that its rows are ordered by, and the statement that reads the rows
// after a position. If it is found in the audit log, add its entity to the test.
//
// # Late commits
//
// Rows do not become visible in the order of their ids and times: a transaction may commit after others that began later, and
// the clocks of nodes differ. So each look goes back a little, one in two seconds goes back by ten (window), and changes
// already reported are remembered for as long. Thus a change may be reported late but is never missed, as long as commits take
// less than the window and the clocks of the nodes differ by less. What was missed while the database was unreachable is read
// when it is back.
//
// A Change says that a row changed and nothing else: neither its contents nor who may see it. The receiver reads the row as the
// subscriber. Pending changes of the same row are merged. When a subscription has more pending rows than it can hold, or the
// feed cannot tell what was missed, Take fails from then on. The caller then has to read everything again and to subscribe
// again.
//
// Caller: graph, for subscriptions. The package never decides who may see a row and never writes.
package feed
