// Package authz decides whether a caller may do a verb on a resource, and by which scope, role or policy. internal/op asks
// it for every call; internal/policy asks it where a draft is tried out. It never reads the database: rows, policies and
// what is known of the caller are handed in.
//
// Scopes and roles are Rego and static data (policies/), asked through the prepared query "decision" and remembered by
// what they depend on. A company's access policies are rows. Compile reads and checks one, and evaluates the Rego rule
// "holds" partially for each of its conditions; what is left are comparisons of attributes with values. From then on that
// residual is the policy: a decision about one row puts the row and the caller into it (DecideRow), an explanation does
// so condition by condition (Explain), and a list writes it as a predicate of its SQL (Rows). A differential test holds
// the three against one another and against the Rego rule.
//
// The modules of the operator are Rego of their own. They are asked by OPA for each row, since only they know the name
// of what denies, and lists use their residual.
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
// A decision that three policies are about took 100 µs when OPA evaluated them for each row, and takes 1 µs with
// their residuals (BenchmarkDecide, 2 cores of an AMD EPYC, 2026-11). A decision by scopes and role alone that is
// remembered takes 0.1 µs. Within OPA, parsed input, metrics.NoOp and EvalExternalCancel were in use already; two thirds
// of the time went into its evaluator, so nothing short of leaving it out would have halved it.
//
// A company's policies may take 50 ms for one decision; then it is refused. Conditions are bounded when they are saved
// (50 of a policy, 500 values of a list, globs of 200 characters with 8 stars), and a glob matches in time linear in the
// text: 0.1 ms for the worst on 10,000 characters, where RE2 took up to 150 ms. The databases' own GLOB and LIKE go back to
// the last star alone: 4 and 6 ms. What more than 100 conditions decide (a glob counts for 25) is remembered for the
// caller, so that internal/op can ask before a transaction what counts within.
package authz
