// Package routing decides who gets a request when it is filed. A company orders its rules by position. The first rule whose
// condition holds sets the request's team, assignee and priority, in the transaction that files it, and the request stores the
// rule's id. A team or an assignee that the caller has named is kept. The priority is the rule's, because almost every request is
// filed with a priority.
//
// rule.go holds the operations on rules, match.go finds the first rule that holds, and assign.go chooses the assignee. Package
// request calls Prepare before its transaction, because customers choose what a condition costs, and Route in it.
//
// A condition that cannot be evaluated, because it reads a field that the request does not have, does not hold; neither does one
// that no longer compiles. So filing never fails because of a rule. Each condition has 50 ms, and all of one request
// have 500 ms together: with 50 ms for all, a busy machine was enough to send a request elsewhere. Those with loops or regular expressions
// run as costly work (op.Tx.Costly).
//
// Compiled rules are cached for each company until a rule changes on any node (op.Known), so a company without rules costs no
// statement. Filing with 50 rules, of which the last holds, takes 1.1 times as long as filing without rules, on both databases
// (BenchmarkFiling; 2026-11, two busy cores): the conditions take 14 µs, and the rest is reading the rule once more in the
// transaction.
//
// The next member in turn, and the member with the fewest requests, are read under a lock of the team's name, so that two
// concurrent requests do not go to the same person. leastLoaded counts the open requests of the team's members through the index
// of assignees.
//
// The package never files or changes a request itself.
package routing
