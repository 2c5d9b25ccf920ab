// Package authz decides whether a caller may perform a verb on a resource, and which scope, role or policy decides.
// internal/op asks it for every call; internal/policy asks it to try out drafts. It never reads the database: its callers
// pass in rows, policies and facts about the caller.
//
// OPA decides everything. Scopes and roles are Rego and static data (policies/atrium.rego); answers are cached by everything that they
// depend on. A company's access policies are rows. Compile reads and checks one, and the enabled ones that can apply to an action on a
// resource become a module of Rego, a rule each (module.go). How they combine, with each other and with an operator's own modules, is
// policies/access.rego. From there come the answers:
//
//	DecideRow   one row: the query "decision", with an input that holds only what the module reads
//	Rows        a list: "permitted" and "denied" evaluated partially with the row unknown, written as SQL
//	Explain     each condition of the policies as a query of its own
//
// A module is compiled when it is first asked, by Ready before a write's transaction. Where no policy has a condition, the answer is
// the same for every row and is asked once. A differential test compares lists with decisions, and both with what policies/README.md
// says.
//
//	resource.go, attribute.go       what policies can look at: one table, made from the entities
//	condition.go, closed.go         the policies' language, read and checked
//	policy.go, module.go            a policy, and the rule that it becomes
//	set.go                          a company's policies: their modules and filters
//	residual.go, node.go            what partial evaluation leaves
//	predicate.go, rows.go           the same as SQL
//	glob.go                         matching in time linear in the text
//	document.go                     the caller and the row
//	bundle.go, operator.go          the product's modules, and the operator's own
//
// # Cost
//
// A decision takes 33 µs of processor time under 200 policies, and about the same under 3 (BenchmarkDecide, 2026-11; 35 to 60 µs at a load
// of four on two cores, where a new decision by scopes and role takes 55): OPA's rule index finds the rules by the constants that they
// compare attributes with. As data that one generic rule walks, three policies took 100 µs. A cached
// decision by scopes and role alone takes 0.1 µs. A module of 3 policies compiles in 2 ms, of 200 in 25 ms. Partial evaluation takes
// 0.3 and 8 ms; its result is kept for callers of whom the policies read the same (maxFilters), unless they read the time.
//
// What a decision can cost is bounded when policies are saved: 1,000 conditions in a company, 50 of them globs, which take up to 0.1 ms
// for a text of 10,000 characters. RE2 took up to 150 ms there. The databases' own GLOB and LIKE backtrack only to the last star: 4 and
// 6 ms for a row, which internal/op bounds.
package authz
