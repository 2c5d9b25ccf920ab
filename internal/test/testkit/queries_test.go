package testkit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/internal/test/testkit"
)

// A query in a domain package finds only the rows that access policies let the caller read. That is right for the row that an
// operation is about, for its result and for rows that an input refers to. It is wrong for facts that the product itself must
// know: publishing once looked for changes in the audit log through the caller's policies, and found none. So a query must run in
// tx.Unfiltered, or its function must be one that loads, lists, looks up or prepares, or it must be listed here with the reason.
var seenByTheCaller = map[string]string{
	// Rows that an input refers to must be visible to the caller.
	"internal/desk/attachment.target":              "the request or the comment that a file is added to",
	"internal/desk/attachment.scanned":             "a worker's, from whom nothing is hidden",
	"internal/desk/attachment.Claim":               "the caller's own drafts",
	"internal/desk/attachment.ClaimAnswers":        "the caller's own drafts, and the files of a request that they may change",
	"internal/desk/attachment.Answerable":          "likewise",
	"internal/agent/evaluation.test":               "the request that an agent is tried on",
	"internal/agent/runs.rerun":                    "the request that an agent is to look at again",
	"internal/agent.checkConnection":               "the secret of a model connection",
	"internal/identity/apikey.behind":              "the user or service account that a key is made for",
	"internal/workflow/execution.hold":             "a worker's, from whom nothing is hidden",
	"internal/workflow/execution.assignTask":       "the user, team or agent that a task is given to",
	"internal/workflow/execution.delegateApproval": "the user who decides in somebody's place",
	"internal/desk/catalog.checkOffering":          "the workflow and the calendar of an offering",
	"internal/desk/catalog.checkSLA":               "the calendar and the teams of service levels",
	"internal/desk/catalog.ownersExist":            "the team and the organization of a service",
	"internal/notify/mailbox.checkTargets":         "the offering and the team of a mailbox",
	"internal/webhook/inbound.check":               "the workflow and the offering of a webhook",
	"internal/workflow/schedule.check":             "the workflow, the offering, the calendar and the requester of a schedule",
	"internal/people.usersExist":                   "the members of a team",
	"internal/people.teamsExist":                   "the teams of a user",
	"internal/people.parentExists":                 "the parent of an organization",
	"internal/people.checkTeam":                    "the organization of a team",
	"internal/desk/routing.check":                  "the team of a routing rule",
	"internal/desk/request.Find":                   "what somebody searches for by its number",
	"internal/desk/request.excerpts":               "the texts of what a search has found",
	"internal/desk/catalog.FindOfferings":          "what a search box finds of the catalogue",
	"internal/desk/request.linked":                 "the requests whose links a list's filter asks for",
	"internal/desk/request.visible":                "what a list finds by words",
	"internal/desk/request.target":                 "the service and the offering of a request",
	"internal/people.handOver":                     "the team that takes over",
	"internal/desk/request.checkAssignee":          "the assignee of a request",
	"internal/desk/request.mentionChoices":         "whom a comment may mention",
	"internal/desk/savedreply.fill":                "by what name a reply addresses the requester",
	"internal/desk/request.person":                 "for whom a request is, and who is to watch it",
	"internal/desk/request.teamExists":             "the team of a request",
	"internal/workflow/condition.checkForm":        "the offering whose form a condition belongs to",
	"internal/workflow/trial.compiled":             "the workflow that the caller tries",
	"internal/workflow/trial.lastTasks":            "answers that are shown to the caller",
	"internal/workflow/trial.lastDecisions":        "answers that are shown to the caller",
	"internal/workflow.checkReferences":            "what a draft names; publishing asks unfiltered",

	// Rows of the result.
	"internal/agent/actions.lockAction":   "the action that an operation is about, which loadAction returns",
	"internal/op/auditlog.requestHistory": "what the policies let the caller see of it",
	"internal/desk/attachment.of":         "the files of requests and comments",
	"internal/desk/request.nameFiles":     "the files of requests that the caller exports",
	"internal/desk/catalog.formChoices":   "whom the caller may name",
	"internal/desk/request.mayTake":       "the request that is taken",
	"internal/desk/request.partsIn":       "comments, tasks and approvals that are not hidden from the caller",
	"internal/desk/request.NameAll":       "people and teams that are not hidden from the caller",
	"internal/people.remainingKeys":       "the keys that go on",
	"internal/people.updateTeam":          "the members as they are now",
	"internal/people.updateUser":          "the teams as they are now",
	"internal/policy.replayed":            "decisions, of which the caller hears about visible ones only",

	// Unfiltered for another reason.
	"internal/agent/actions.mayDecide":    "called by a preparation",
	"internal/agent/custom.mayHold":       "the caller's own run, in a preparation",
	"internal/agent.createKey":            "the agent that the key is for, in the admin layer",
	"internal/agent/phases.beginAbout":    "a worker's, from whom nothing is hidden",
	"internal/agent/phases.consult":       "a worker's, from whom nothing is hidden",
	"internal/agent/phases.workOrRelease": "a worker's, from whom nothing is hidden",
	"internal/agent/phases.endOthers":     "a worker's, from whom nothing is hidden",
	"internal/agent/phases.completedBy":   "a worker's, from whom nothing is hidden",
	"internal/agent/runs.OverBudget":      "a worker's, from whom nothing is hidden",
	"internal/agent/phases.firstActive":   "a worker's, from whom nothing is hidden",
	"internal/people/erasure.around":      "a worker's, from whom nothing is hidden",
	"internal/people.forgetAccount":       "runs as the system: whatever is the account's",
	"internal/people.forgetUser":          "runs as the system: whatever is the person's",
	"internal/identity/signin.mayReset":   "runs as the system, over all companies",
	"internal/desk/routing.checkChange":   "the row that the caller changes",
	"internal/desk/routing.compile":       "within a preparation, from which nothing is hidden",
	"internal/desk/routing.choose":        "the caller hands it an unfiltered context",
	"internal/desk/routing.leastLoaded":   "the caller hands it an unfiltered context",
	"internal/desk/routing.nextMember":    "the caller hands it an unfiltered context",
	"internal/desk/request.count":         "what a list would find",
	"internal/desk/request.organizations": "organizations of services that the caller sees",
	"internal/agent/runs.stats":           "what a list would find",
	"internal/agent/runs.statActions":     "what a list would find",
	"internal/webhook.stats":              "what a list would find",
	"internal/desk/audience.Check":        "whether the team may be named",
	"internal/desk/request.takeNext":      "somebody takes what they see",
	"internal/desk/request.advanceAll":    "a worker's, from whom nothing is hidden",
	"internal/notify/notice.digest":       "a worker's, from whom nothing is hidden",
	"internal/notify/notice.mail":         "a worker's, from whom nothing is hidden",
	"internal/people.firstCome":           "nobody is calling yet",
	"internal/policy.whois":               "the caller hands it an unfiltered context",
	"internal/policy.keyHolder":           "the caller hands it an unfiltered context",
	"internal/identity/websession.open":   "nobody is calling yet",

	"internal/workflow/schedule.done":          "a job's, from whom nothing is hidden",
	"internal/workflow/schedule.replan":        "a worker's, from whom nothing is hidden",
	"internal/workflow/schedule.checkUpdate":   "the row that the caller changes",
	"internal/workflow/schedule.mayAdd":        "the company itself; the schedules are counted unfiltered",
	"internal/workflow/execution.advanceTasks": "a worker's, from whom nothing is hidden",

	"internal/people/erasure.eraseExecution":  "a worker's, from whom nothing is hidden",
	"internal/notify/mailbox.conceal":         "which requests and comments the caller reads decides what of their mails is shown",
	"internal/desk/attachment.copied":         "copies are the caller's, of files that the caller reads",
	"internal/workflow/condition.givenFields": "values of the workflows that the caller sees, from which they pick",
	"internal/workflow.checkCalls":            "the workflows that the caller sees, which a refusal names",
	"internal/desk/request.NewFieldFaults":    "whether the caller sees the offering whose form would be told",
	"internal/workflow.checkAnswers":          "the offerings that the caller sees, one of which a refusal names",
	"internal/desk/catalog.unasked":           "whether the caller sees the workflow that a refusal would tell of",
}

// terminals are the methods that run a query.
var terminals = []string{"FindShared", "Only", "OnlyID", "All", "Exist", "Count", "First", "FirstID", "IDs", "Strings", "Ints", "Scan", "Get"}

func TestRulesSeeEveryRow(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for file, source := range testkit.Sources(t, "internal") {
		pkg := path.Dir(file)
		if pkg == "internal/op" || pkg == "internal/op/decisionlog" {
			continue
		}
		for _, name := range filtered(t, source) {
			found[pkg+"."+name] = true
			if seenByTheCaller[pkg+"."+name] == "" {
				t.Errorf("%s.%s queries what the caller may see: run it in tx.Unfiltered, or list it with the reason why not", pkg, name)
			}
		}
	}
	for name := range seenByTheCaller {
		require.True(t, found[name], "%s is listed, and queries nothing so", name)
	}
}

// filtered returns the functions of a file that run a query of a transaction with the caller's view.
func filtered(t *testing.T, source string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	require.NoError(t, err)
	var out []string
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil || !takesTx(fn) || answers(fn.Name.Name) {
			continue
		}
		if queries(fn.Body) {
			out = append(out, fn.Name.Name)
		}
	}
	return out
}

// answers reports whether, by its name, a function's query finds the operation's row or its result, or runs before the
// transaction, where nothing is hidden.
func answers(name string) bool {
	for _, verb := range []string{"load", "list", "lookUp", "prepare", "read"} {
		if strings.HasPrefix(strings.ToLower(name[:1])+name[1:], verb) {
			return true
		}
	}
	return strings.HasSuffix(name, "Of") || strings.HasSuffix(name, "sOf")
}

func takesTx(fn *ast.FuncDecl) bool {
	return slices.ContainsFunc(fn.Type.Params.List, func(f *ast.Field) bool {
		star, ok := f.Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		sel, ok := star.X.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "Tx" && isIdent(sel.X, "op")
	})
}

// queries reports whether a query runs with a context that is not from tx.Unfiltered.
func queries(body ast.Node) bool {
	unfiltered := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && calls(a.Rhs[0], "Unfiltered") {
			if id, ok := a.Lhs[0].(*ast.Ident); ok {
				unfiltered[id.Name] = true
			}
		}
		return true
	})
	seen, ran := false, false
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := sel.X.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Query" || sel.Sel.Name == "Get") {
			seen = seen || authz.HasRows(of.Sel.Name) || of.Sel.Name == "TeamMember"
		}
		seen = seen || strings.HasPrefix(sel.Sel.Name, "Query") && sel.Sel.Name != "Query" // along an edge
		if !slices.Contains(terminals, sel.Sel.Name) || len(call.Args) == 0 {
			return true
		}
		id, named := call.Args[0].(*ast.Ident)
		if named && unfiltered[id.Name] || calls(call.Args[0], "Unfiltered") {
			return true
		}
		ran = ran || named || calls(call.Args[0], "Filtered")
		return true
	})
	return seen && ran
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func calls(e ast.Expr, method string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == method
}

func TestTheRuleFindsThePublishingDefect(t *testing.T) {
	t.Parallel()
	const defect = `package workflow

func changedSincePublished(ctx context.Context, tx *op.Tx, id string) (bool, error) {
	entries := tx.AuditEntry.Query().Where(auditentry.ResourceID(id))
	page, err := entries.Clone().Limit(100).All(ctx)
	return len(page) > 0, err
}
`
	require.Equal(t, []string{"changedSincePublished"}, filtered(t, defect))
	mended := strings.Replace(defect, ".All(ctx)", `.All(tx.Unfiltered(ctx, "the product's own"))`, 1)
	require.Empty(t, filtered(t, mended))
	other := strings.Replace(strings.Replace(defect, "entries :=", "all := tx.Unfiltered(ctx, \"x\")\n\tentries :=", 1), ".All(ctx)", ".All(all)", 1)
	require.Empty(t, filtered(t, other))
	require.Empty(t, filtered(t, strings.Replace(defect, "changedSincePublished", "listVersions", 1)))
}
