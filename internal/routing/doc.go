// Package routing decides to whom requests go when they are filed. A company orders its rules by position; the first whose
// condition holds sets the request's team, assignee and priority, in the transaction that files it, and the request keeps the
// rule's id. What whoever files names themselves (a team, an assignee) stays; the priority is the rule's, since almost every
// request is filed with one.
//
// rule.go holds the operations on rules, match.go finds the rule that counts, assign.go the person. Package request calls
// Prepare before its transaction, because what a condition costs is the company's choice, and Route within.
//
// A condition that cannot be evaluated, because it reads a field that the request does not have, does not hold, and
// neither does one that no longer compiles: filing never fails because of a rule. All conditions of one request have 50 ms
// together; those that hold loops or regular expressions wait for a turn (op.Tx.Costly).
//
// Compiled rules are remembered for each company until a rule changes anywhere (op.Known), so a company without rules pays no
// statement. Filing with 50 rules, of which the last holds, takes 1.1 times as long as filing without on both databases
// (BenchmarkFiling; 2026-11, two busy cores): the conditions take 14 µs, the rest is the rule that is read once more in the
// transaction.
//
// Whose turn it is and who has the fewest requests is read under a lock of the team's name, so that two requests at once do not
// go to the same person. leastLoaded counts the open requests of the team's members through the index of assignees.
package routing
