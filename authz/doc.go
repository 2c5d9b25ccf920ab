// Package authz decides whether a caller may perform a verb on a resource, and which scope, role or policy decides.
// internal/op asks it for every call; internal/policy asks it to try out drafts. It never reads the database: its callers
// pass in rows, policies and facts about the caller.
//
// Scopes and roles are Rego and static data (policies/). The prepared query "decision" evaluates them, and answers are
// cached by everything that they depend on. A company's access policies are rows. Compile reads and checks one, and
// partially evaluates the Rego rule "holds" for each of its conditions; the residual consists of comparisons of attributes
// with values. From then on this residual is the policy. A decision about one row evaluates it with the row and the caller
// (DecideRow), an explanation does so condition by condition (Explain), and a list turns it into a predicate of its SQL
// (Rows). A differential test compares the three with each other and with the Rego rule.
//
// The operator's modules are Rego of their own. OPA evaluates them for each row, because only they know the name of a
// denial; lists use their residual.
//
//	resource.go, attribute.go       what policies can look at: one table, made from the entities
//	condition.go, policy.go         the policies' language
//	residual.go, node.go, fold.go   what partial evaluation leaves, and how a caller and a row are put into it
//	predicate.go, rows.go           the same as SQL
//	glob.go                         matching in time linear in the text
//	set.go, document.go             a company's policies, the caller and the row
//	bundle.go, operator.go          the modules, the operator's own among them
//
// # Cost
//
// A decision that involves three policies took 100 µs when OPA evaluated them for each row, and takes 1 µs with their
// residuals (BenchmarkDecide, 2 cores of an AMD EPYC, 2026-11). A cached decision by scopes and role alone takes 0.1 µs.
// OPA was already used with parsed input, metrics.NoOp and EvalExternalCancel; two thirds of the time went into its
// evaluator, so only avoiding the evaluator could halve it.
//
// A company's policies may take 50 ms for one decision; then the call is refused. Conditions have limits when they are
// saved (50 in a policy, 500 values in a list, globs of 200 characters with 8 stars), and a glob matches in time linear in
// the text: 0.1 ms in the worst case on 10,000 characters, where RE2 took up to 150 ms. The databases' own GLOB and LIKE
// backtrack only to the last star: 4 and 6 ms. Decisions that involve more than 100 conditions (a glob counts as 25) are
// remembered for the caller, so that internal/op can ask before a transaction.
package authz
