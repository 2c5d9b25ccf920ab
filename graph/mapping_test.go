package graph

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/generated/resolvers"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/resolve"
	"atrium/graph/internal/view"
	"atrium/internal/desk/form"
	"atrium/internal/desk/sla"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/store"
)

const tenantsOwn = "callers know which company they are of"

const shownByLookUp = "no column: shown is looked up for all rows of a list"

const sealsOwn = "only exports hand out what opens a commitment"

// private are the columns that the schema does not show, with the reason.
var private = map[string]map[string]string{
	"AccessDecision": {"CompanyID": tenantsOwn, "UpdatedAt": "decisions do not change"},
	"AccessPolicy":   {"CompanyID": tenantsOwn},
	"Agent": {"CompanyID": tenantsOwn, "SecretSealed": "a signing secret is shown once", "PreviousSealed": "a signing secret is shown once",
		"PreviousUntil": "rotating says it"},
	"AgentAction":        {"CompanyID": tenantsOwn, "RowVersion": "the digest holds it"},
	"AgentRun":           {"CompanyID": tenantsOwn},
	"ApiKey":             {"CompanyID": tenantsOwn, "Hash": "a key's value is shown once"},
	"AuditEntry":         {"CompanyID": tenantsOwn, "ActorSeal": sealsOwn, "ChangesSeal": sealsOwn},
	"Calendar":           {"CompanyID": tenantsOwn},
	"RoutingRule":        {"CompanyID": tenantsOwn, "LastAssigneeID": "whose turn it was is the product's own"},
	"RequestImport":      {"CompanyID": tenantsOwn, "Settings": "how its rows are read is asked when it is sent", "Csv": "the table is nobody's to read: it may hold what its reader may not see"},
	"SavedReply":         {"CompanyID": tenantsOwn},
	"SavedView":          {"CompanyID": tenantsOwn},
	"ReportSubscription": {"CompanyID": tenantsOwn},

	"ModelConnection": {"CompanyID": tenantsOwn},
	"Attachment":      {"CompanyID": tenantsOwn, "StoredAs": "where its bytes are is the product's matter", "DeletedAt": "a deleted file is nobody's to see"},
	"Comment":         {"CompanyID": tenantsOwn, "Mentioned": "who was told is the product's matter"},
	"Company": {
		"FilesKeySealed": "what files are encrypted under is nobody's to see",
		"SandboxOf":      "the live company shows its sandbox",
		"RatePerMinute":  "limits tell it", "RatePerDay": "limits tell it", "BytesPerMinute": "limits tell it", "BytesPerDay": "limits tell it", "QueryCost": "limits tell it", "InvitationsPerDay": "the operator's matter", "AuditDays": "the operator's matter",
	},
	"Notification": {
		"CompanyID": tenantsOwn, "UserID": "it is the caller", "UpdatedAt": "readAt says it", "DigestAt": "when a digest takes it is the product's matter",
		"MailedAt": "when its mail went: what follows soon waits for it", "Held": "its mail, while that waits", "RequestID": "an edge, which policies bind",
	},
	"CreditEntry": {
		"CompanyID": tenantsOwn, "ID": "an entry is told by its date", "UpdatedAt": "entries do not change",
		"Reason": "type and description say it", "Number": "the history is in their order", "DrawnFrom": "what an entry draws on is for audits of the books",
	},
	"Invoice":      {"CompanyID": tenantsOwn},
	"OAuthClient":  {"CompanyID": tenantsOwn, "SecretHash": "a client's secret is shown once"},
	"Offering":     {"CompanyID": tenantsOwn},
	"Organization": {"CompanyID": tenantsOwn},
	"Request": {"CompanyID": tenantsOwn, "PriorityRank": "follows priority; lists order by it",
		"ResponseDueOrder": "follows responseDueAt; lists order by it", "ResolutionDueOrder": "follows resolutionDueAt; lists order by it", "SLANextAt": "the sweep's own",
		"SatisfactionAskedAt": "whether the requester is asked", "SatisfactionAt": "until when the rating may be changed"},
	"Secret":  {"CompanyID": tenantsOwn, "Sealed": "a secret's value is never returned", "Previous": "nor are those before"},
	"Service": {"CompanyID": tenantsOwn},
	"ServiceAccount": {
		"CompanyID": tenantsOwn, "LiveAccountID": "how a sandbox mirrors callers is the product's matter",
	},
	"Team": {"CompanyID": tenantsOwn},
	"User": {
		"CompanyID": tenantsOwn, "AccountID": "a sign-in may be in several companies", "LiveUserID": "how a sandbox mirrors people is the product's matter",
		"Notifications": "the viewer shows them to themselves",
		"SignedOutAt":   "sessions and tokens from before are over, which their owners see",
		"AcceptedAt":    "the status says whether somebody has come",
	},
	"InboundMail": {
		"CompanyID": tenantsOwn, "StoredAs": "where the message is kept", "Peer": "what SPF looks at", "Helo": "what SPF looks at",
		"MailFrom": "what SPF looks at",
	},
	"Mailbox": {
		"CompanyID": tenantsOwn, "SecretSealed": "a password is shown once", "FetchedValidity": "a place at the mail server", "FetchedUID": "a place at the mail server",
	},
	"InboundCall": {"CompanyID": tenantsOwn, "UpdatedAt": "calls do not change"},
	"InboundWebhook": {
		"CompanyID": tenantsOwn, "SecretSealed": "a secret is shown once", "PreviousSealed": "a secret is shown once",
	},
	"WebhookDelivery": {"CompanyID": tenantsOwn},
	"WebhookSubscription": {
		"CompanyID": tenantsOwn, "SecretSealed": "a secret is shown once", "PreviousSealed": "a secret is shown once",
	},
	"Schedule": {"CompanyID": tenantsOwn},
	"Workflow": {"CompanyID": tenantsOwn},
	"Execution": {
		"CompanyID": tenantsOwn, "Revision": "counts the engine's commits", "State": "the engine's own", "Webhook": "variables tell it", "Input": "variables tell it",
		"ParentVisit": "the engine's own", "ParentAttempt": "the engine's own", "RootID": "bounds what one execution starts", "Depth": "bounds calls",
		"InboundWebhookID": "the webhook's calls tell it", "InboundKey": "the caller's own", "Intake": "the webhook tells it", "Consulted": "who reads its request",
	},
	"Task":     {"CompanyID": tenantsOwn, "Shown": shownByLookUp, "Visit": "the engine's own", "Attempt": "the engine's own", "SLALevels": "the phase's definition shows them", "SLANextAt": "the sweep's own"},
	"Approval": {"CompanyID": tenantsOwn, "Shown": shownByLookUp, "Visit": "the engine's own", "Attempt": "the engine's own"},
	"Incident": {"CompanyID": tenantsOwn, "Visit": "the engine's own", "Attempt": "the engine's own"},
}

// elsewhere are the fields of answers that are read from other tables than the row's.
var elsewhere = map[string]bool{"User.teamIds": true, "Team.memberIds": true, "Execution.variables": true, "Execution.phases": true, "Execution.phaseIds": true, "Execution.phaseNames": true, "Invoice.creditNotes": true, "Task.shown": true, "Approval.shown": true}

// TestEveryColumnIsAnsweredOrPrivate sets one column after the other to a unique value, and looks for it in an answer that
// selects everything.
func TestEveryColumnIsAnsweredOrPrivate(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	check := func(name string, fn func(t *testing.T)) {
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fn(t)
		})
	}
	node := func(v any) answering { return answering{node: v} }
	check("AccessDecision", func(t *testing.T) {
		mapped(t, "AccessDecision", func(e *ent.AccessDecision) answering { return node(e) })
	})
	check("AccessPolicy", func(t *testing.T) { mapped(t, "AccessPolicy", func(e *ent.AccessPolicy) answering { return node(e) }) })
	check("WebhookDelivery", func(t *testing.T) {
		mapped(t, "WebhookDelivery", func(e *ent.WebhookDelivery) answering { return node(e) })
	})
	check("WebhookSubscription", func(t *testing.T) {
		mapped(t, "WebhookSubscription", func(e *ent.WebhookSubscription) answering { return node(e) })
	})
	check("InboundCall", func(t *testing.T) { mapped(t, "InboundCall", func(e *ent.InboundCall) answering { return node(e) }) })
	check("InboundMail", func(t *testing.T) { mapped(t, "InboundMail", func(e *ent.InboundMail) answering { return node(e) }) })
	check("Mailbox", func(t *testing.T) { mapped(t, "Mailbox", func(e *ent.Mailbox) answering { return node(e) }) })
	check("InboundWebhook", func(t *testing.T) {
		mapped(t, "InboundWebhook", func(e *ent.InboundWebhook) answering { return node(e) })
	})
	check("Agent", func(t *testing.T) { mapped(t, "Agent", func(e *ent.Agent) answering { return node(e) }) })
	check("ModelConnection", func(t *testing.T) {
		mapped(t, "ModelConnection", func(e *ent.ModelConnection) answering { return node(e) })
	})
	check("AgentAction", func(t *testing.T) { mapped(t, "AgentAction", func(e *ent.AgentAction) answering { return node(e) }) })
	check("AgentRun", func(t *testing.T) { mapped(t, "AgentRun", func(e *ent.AgentRun) answering { return node(e) }) })
	check("ApiKey", func(t *testing.T) { mapped(t, "ApiKey", func(e *ent.APIKey) answering { return node(e) }) })
	check("AuditEntry", func(t *testing.T) { mapped(t, "AuditEntry", func(e *ent.AuditEntry) answering { return node(e) }) })
	check("RoutingRule", func(t *testing.T) { mapped(t, "RoutingRule", func(e *ent.RoutingRule) answering { return node(e) }) })
	check("RequestImport", func(t *testing.T) {
		mapped(t, "RequestImport", func(e *ent.RequestImport) answering { return node(e) })
	})
	check("SavedReply", func(t *testing.T) { mapped(t, "SavedReply", func(e *ent.SavedReply) answering { return node(e) }) })
	check("ReportSubscription", func(t *testing.T) {
		mapped(t, "ReportSubscription", func(e *ent.ReportSubscription) answering { return node(e) })
	})
	check("SavedView", func(t *testing.T) { mapped(t, "SavedView", func(e *ent.SavedView) answering { return node(e) }) })
	check("Calendar", func(t *testing.T) { mapped(t, "Calendar", func(e *ent.Calendar) answering { return node(e) }) })
	check("Invoice", func(t *testing.T) { mapped(t, "Invoice", func(e *ent.Invoice) answering { return node(e) }) })
	check("Attachment", func(t *testing.T) { mapped(t, "Attachment", func(e *ent.Attachment) answering { return node(e) }) })
	check("Comment", func(t *testing.T) { mapped(t, "Comment", func(e *ent.Comment) answering { return node(e) }) })
	check("Execution", func(t *testing.T) { mapped(t, "Execution", func(e *ent.Execution) answering { return node(e) }) })
	check("Task", func(t *testing.T) { mapped(t, "Task", func(e *ent.Task) answering { return node(e) }) })
	check("Approval", func(t *testing.T) { mapped(t, "Approval", func(e *ent.Approval) answering { return node(e) }) })
	check("Incident", func(t *testing.T) { mapped(t, "Incident", func(e *ent.Incident) answering { return node(e) }) })
	check("OAuthClient", func(t *testing.T) { mapped(t, "OAuthClient", func(e *ent.OAuthClient) answering { return node(e) }) })
	check("Notification", func(t *testing.T) {
		mapped(t, "Notification", func(e *ent.Notification) answering { return answering{told: e} })
	})
	check("Offering", func(t *testing.T) { mapped(t, "Offering", func(e *ent.Offering) answering { return node(e) }) })
	check("Organization", func(t *testing.T) { mapped(t, "Organization", func(e *ent.Organization) answering { return node(e) }) })
	check("Request", func(t *testing.T) { mapped(t, "Request", func(e *ent.Request) answering { return node(e) }) })
	check("Schedule", func(t *testing.T) { mapped(t, "Schedule", func(e *ent.Schedule) answering { return node(e) }) })
	check("Secret", func(t *testing.T) { mapped(t, "Secret", func(e *ent.Secret) answering { return node(e) }) })
	check("Service", func(t *testing.T) { mapped(t, "Service", func(e *ent.Service) answering { return node(e) }) })
	check("ServiceAccount", func(t *testing.T) {
		mapped(t, "ServiceAccount", func(e *ent.ServiceAccount) answering { return node(e) })
	})
	check("Team", func(t *testing.T) { mapped(t, "Team", func(e *ent.Team) answering { return node(e) }) })
	check("User", func(t *testing.T) { mapped(t, "User", func(e *ent.User) answering { return node(e) }) })
	check("Workflow", func(t *testing.T) { mapped(t, "Workflow", func(e *ent.Workflow) answering { return node(e) }) })
	for _, def := range Schema().PossibleTypes["Node"] {
		require.True(t, seen[def.Name], "%s is a Node: hold its columns here", def.Name)
	}
	check("CreditEntry", func(t *testing.T) {
		mapped(t, "CreditEntry", func(e *ent.CreditEntry) answering { return answering{entry: e} })
	})
	check("Company", func(t *testing.T) {
		mapped(t, "Company", func(e *ent.Company) answering { return answering{company: &view.Company{Company: e}} })
	})
}

func mapped[E any](t *testing.T, name string, as func(*E) answering) {
	t.Helper()
	typ, n := reflect.TypeFor[E](), 0
	for f := range typ.Fields() {
		if !f.IsExported() || f.Anonymous || f.Name == "Edges" {
			continue
		}
		n++
		row := new(E)
		before := shown(t, name, as(row))
		called := f.Name
		if name == "AgentAction" && called == "Changes" { // a list, unlike the changes of an audit entry
			called = name + "." + called
		}
		distinct(t, reflect.ValueOf(row).Elem().FieldByIndex(f.Index), called)
		after := shown(t, name, as(row))
		if reason, ok := private[name][f.Name]; ok {
			require.NotEmpty(t, reason)
			require.Equal(t, before, after, "%s.%s is private: %s", name, f.Name, reason)
			continue
		}
		require.NotEqual(t, before, after, "%s.%s is in no answer: map it, or list it as private with a reason", name, f.Name)
		require.Contains(t, after, marker(f), "%s.%s", name, f.Name)
	}
	require.Greater(t, n, 4)
	for column := range private[name] {
		_, ok := typ.FieldByName(column)
		require.True(t, ok, "%s has no column %s that could be private", name, column)
	}
}

// answering are resolvers that answer with given rows.
type answering struct {
	node    any
	entry   *ent.CreditEntry
	told    *ent.Notification
	company *view.Company
}

type stubRoot struct {
	*resolver
	answering
}

func (r stubRoot) Query() generated.QueryResolver   { return stubQuery{r.resolver.Query(), r.answering} }
func (r stubRoot) Viewer() generated.ViewerResolver { return stubViewer{r.answering} }

type stubQuery struct {
	generated.QueryResolver
	answering
}

func (q stubQuery) Node(context.Context, string) (relay.Node, error) { return q.node, nil }

func (q stubQuery) Viewer(context.Context) (*view.Viewer, error) { return &view.Viewer{}, nil }

func (q stubQuery) CreditHistory(context.Context, *int, *string) (*relay.Connection[ent.CreditEntry], error) {
	return relay.New(paging.List[*ent.CreditEntry]{Rows: []*ent.CreditEntry{q.entry}}, resolve.Same[ent.CreditEntry]), nil
}

func (q stubQuery) Notifications(context.Context, *bool, *int, *string, *relay.Order) (*relay.Connection[ent.Notification], error) {
	return relay.New(paging.List[*ent.Notification]{Rows: []*ent.Notification{q.told}}, resolve.Same[ent.Notification]), nil
}

type stubViewer struct{ answering }

func (stubViewer) NotificationSettings(context.Context, *view.Viewer) ([]*notice.Setting, error) {
	return nil, nil
}

func (stubViewer) Locale(context.Context, *view.Viewer) (*string, error) { return nil, nil }

func (stubViewer) TimeZone(context.Context, *view.Viewer) (*string, error) { return nil, nil }

func (stubViewer) Permissions(context.Context, *view.Viewer) ([]string, error) { return nil, nil }

func (v stubViewer) Company(context.Context, *view.Viewer) (*view.Company, error) {
	return v.company, nil
}

// shown returns the JSON of all of a type's fields that show a row's own values.
func shown(t *testing.T, name string, a answering) string {
	t.Helper()
	schema := generated.NewExecutableSchema(generated.Config{Resolvers: stubRoot{&resolver{Root: resolvers.Root{Engine: &op.Engine{Store: &store.Store{}}}}, a}})
	columns := columnsOf(schema.Schema(), schema.Schema().Types[name], 0)
	query := fmt.Sprintf(`{ node(id: "x") { ... on %s { %s } } }`, name, columns)
	switch {
	case a.entry != nil:
		query = fmt.Sprintf(`{ creditHistory { edges { node { %s } } } }`, columns)
	case a.told != nil:
		query = fmt.Sprintf(`{ notifications { edges { node { %s } } } }`, columns)
	case a.company != nil:
		query = fmt.Sprintf(`{ viewer { company { %s } } }`, columns)
	}
	s := &Server{Options: Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))}}
	e := executor.New(schema)
	e.SetErrorPresenter(s.present)
	ctx := graphql.StartOperationTrace(t.Context())
	oc, errs := e.CreateOperationContext(ctx, &graphql.RawParams{Query: query})
	require.Empty(t, errs, query)
	responses, ctx := e.DispatchOperation(ctx, oc)
	res := responses(ctx)
	require.Empty(t, res.Errors, "%s", query)
	return string(res.Data)
}

// columnsOf selects all fields of a type that do not lead to another row.
func columnsOf(s *ast.Schema, def *ast.Definition, depth int) string {
	var b strings.Builder
	for _, f := range def.Fields {
		of := s.Types[f.Type.Name()]
		switch {
		case f.Name == "etag": // a hash of the columns, including private ones: it differs whether or not a column is answered
		case strings.HasPrefix(f.Name, "viewerMay"), f.Name == "people", f.Name == "watchers", f.Name == "links": // depends on the caller, or on other rows, and not on this one
		case elsewhere[def.Name+"."+f.Name], len(f.Arguments) > 0, strings.HasPrefix(f.Name, "__"):
		case of.Kind == ast.Interface: // another row
		case of.Kind != ast.Object:
			b.WriteString(f.Name + " ")
		case depth < 3 && !slices.Contains(implementors(s), of.Name) && of.Name != "Sandbox":
			b.WriteString(f.Name + " { " + columnsOf(s, of, depth+1) + "} ")
		}
	}
	return b.String()
}

func implementors(s *ast.Schema) []string {
	var out []string
	for _, def := range s.PossibleTypes["Node"] {
		out = append(out, def.Name)
	}
	return out
}

// moment is a unique time.
var moment = time.Date(2031, 4, 5, 6, 7, 8, 9e6, time.UTC)

// distinct sets a field to a unique value.
func distinct(t *testing.T, v reflect.Value, name string) {
	t.Helper()
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(moment))
		return
	case json.RawMessage:
		text := `{"distinct":"` + name + `"}`
		switch name {
		case "WorkingHours":
			text = `[{"day":"MON","from":"distinct"}]`
		case "Exceptions":
			text = `[{"date":"distinct"}]`
		case "Faults":
			text = `[{"message":"distinct"}]`
		case "Every":
			text = `{"unit":"distinct"}`
		case "Lines":
			text = `[{"description":"distinct","amount":1}]`
		case "Error":
			text = `{"code":"distinct"}`
		case "Signature":
			text = `{"header":"distinct"}`
		case "Approvers":
			text = `[{"type":"user","id":"distinct"}]`
		case "Decisions":
			text = `[{"by":"distinct"}]`
		case "Corrections":
			text = `[{"field":"distinct"}]`
		case "AgentAction.Changes":
			text = `[{"field":"distinct"}]`
		case "Steps":
			text = `[{"n":1,"operation":"distinct"}]`
		case "Limits":
			text = `{"steps":97}`
		case "Tools":
			text = `[{"name":"distinct","mode":"auto"}]`
		case "Attempts":
			text = `[{"at":"2031-04-05T06:07:08.009Z","error":"distinct"}]`
		}
		v.Set(reflect.ValueOf(json.RawMessage(text)))
		return
	case *sla.Levels:
		v.Set(reflect.ValueOf(&sla.Levels{WarnAtPercent: 97}))
		return
	case *sla.ByPriority:
		v.Set(reflect.ValueOf(&sla.ByPriority{LOW: &sla.Targets{ResponseMinutes: new(97)}}))
		return
	case []sla.Escalation:
		v.Set(reflect.ValueOf([]sla.Escalation{{Do: "distinct" + name}}))
		return
	case *form.Definition:
		v.Set(reflect.ValueOf(&form.Definition{Fields: []form.Field{{Key: "distinct" + name, Type: form.Text}}}))
		return
	case []string:
		v.Set(reflect.ValueOf([]string{"distinct" + name}))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		distinct(t, v.Elem(), name)
	case reflect.String:
		v.SetString("distinct" + name)
	case reflect.Int, reflect.Int8, reflect.Int64:
		v.SetInt(97)
	case reflect.Float64:
		v.SetFloat(97)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.SetBytes([]byte("distinct" + name))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("distinct"), reflect.ValueOf(name))
	default:
		t.Fatalf("a column of kind %s takes a case here", v.Kind())
	}
}

// marker returns the text that a field set by distinct must leave in an answer.
func marker(f reflect.StructField) string {
	typ := f.Type
	if typ == reflect.TypeFor[*sla.ByPriority]() || f.Name == "Limits" {
		return "97"
	}
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ == reflect.TypeFor[[]byte]():
		return base64.StdEncoding.EncodeToString([]byte("distinct" + f.Name))
	case typ == reflect.TypeFor[time.Time]():
		return "2031-04-05T06:07:08.009Z"
	case typ.Kind() == reflect.Bool:
		return "true"
	case typ.Kind() == reflect.Float64, typ.Kind() == reflect.Int, typ.Kind() == reflect.Int8, typ.Kind() == reflect.Int64:
		return "97"
	default:
		return "distinct"
	}
}
