package rest

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/form"
	"atrium/internal/desk/sla"
)

const tenantsOwn = "callers know which company they are of"

const sealsOwn = "only exports hand out what opens a commitment"

// private are the columns that answers do not show, with the reason.
var private = map[string]map[string]string{
	"Service":  {"CompanyID": tenantsOwn},
	"Offering": {"CompanyID": tenantsOwn},
	"Request": {"CompanyID": tenantsOwn, "PriorityRank": "follows priority; lists order by it",
		"ResponseDueOrder": "follows responseDueAt; lists order by it", "ResolutionDueOrder": "follows resolutionDueAt; lists order by it", "SLANextAt": "the sweep's own",
		"SatisfactionAskedAt": "whether the requester is asked", "SatisfactionAt": "until when the rating may be changed"},
	"RequestImport":      {"CompanyID": tenantsOwn, "Settings": "how its rows are read is said when it is sent", "Csv": "it may hold what its reader may not see"},
	"Workflow":           {"CompanyID": tenantsOwn},
	"Schedule":           {"CompanyID": tenantsOwn},
	"ReportSubscription": {"CompanyID": tenantsOwn},
	"ScheduleRun":        {"CompanyID": tenantsOwn},
	"Execution": {
		"CompanyID": tenantsOwn, "Revision": "counts the engine's commits", "State": "the engine's own; variables and phases tell it",
		"InboundWebhookID": "the webhook's calls tell it", "InboundKey": "the caller's own", "Intake": "the webhook tells it",
		"Consulted":   "who reads its request",
		"ParentVisit": "the engine's own", "ParentAttempt": "the engine's own", "RootID": "bounds what one execution starts", "Depth": "bounds calls",
	},
	"PhaseVisit": {
		"CompanyID": tenantsOwn, "ID": "a visit is told by its place", "ExecutionID": "it stands in the execution", "Number": "its place tells it",
		"CreatedAt": "startedAt says it", "UpdatedAt": "finishedAt says it",
	},
	"Task":       {"CompanyID": tenantsOwn, "Visit": "the engine's own", "Attempt": "the engine's own", "SLALevels": "the phase's definition shows them", "SLANextAt": "the sweep's own"},
	"Approval":   {"CompanyID": tenantsOwn, "Visit": "the engine's own", "Attempt": "the engine's own"},
	"Incident":   {"CompanyID": tenantsOwn, "Visit": "the engine's own", "Attempt": "the engine's own"},
	"Attachment": {"CompanyID": tenantsOwn, "StoredAs": "where its bytes are is the product's matter", "DeletedAt": "a deleted file is nobody's to see"},
	"Comment":    {"CompanyID": tenantsOwn, "Mentioned": "who was told is the product's matter"},
	"User": {"CompanyID": tenantsOwn, "AccountID": "a sign-in may be in several companies", "LiveUserID": "how a sandbox mirrors people is the product's matter",
		"Notifications": "each person's own matter",
		"SignedOutAt":   "since when tokens count is the product's matter",
		"AcceptedAt":    "the status says whether somebody has come"},
	"AgentRun":     {"CompanyID": tenantsOwn},
	"Team":         {"CompanyID": tenantsOwn},
	"Organization": {"CompanyID": tenantsOwn},
	"Secret":       {"CompanyID": tenantsOwn, "Sealed": "a secret's value is never returned", "Previous": "nor are those before"},
	"AuditEntry":   {"CompanyID": tenantsOwn, "ActorSeal": sealsOwn, "ChangesSeal": sealsOwn},
	"CreditEntry": {
		"CompanyID": tenantsOwn, "ID": "an entry is told by its date", "UpdatedAt": "entries do not change",
		"Reason": "type and description say it", "Number": "their order says it", "Balance": "the balance is answered for all of them",
		"DrawnFrom": "which credit is used first is the product's matter",
	},
}

// TestEveryColumnIsAnsweredOrPrivate sets one column after the other to a unique value, and looks for it in the answer.
func TestEveryColumnIsAnsweredOrPrivate(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(*testing.T, map[string]string){
		"Service":            func(t *testing.T, p map[string]string) { mapped(t, p, serviceOut) },
		"Offering":           func(t *testing.T, p map[string]string) { mapped(t, p, offeringOut) },
		"RequestImport":      func(t *testing.T, p map[string]string) { mapped(t, p, requestImportOut) },
		"Request":            func(t *testing.T, p map[string]string) { mapped(t, p, requestOut) },
		"Attachment":         func(t *testing.T, p map[string]string) { mapped(t, p, attachmentOut) },
		"Comment":            func(t *testing.T, p map[string]string) { mapped(t, p, commentOut) },
		"Workflow":           func(t *testing.T, p map[string]string) { mapped(t, p, workflowOut) },
		"ReportSubscription": func(t *testing.T, p map[string]string) { mapped(t, p, reportSubscriptionOut) },
		"Schedule":           func(t *testing.T, p map[string]string) { mapped(t, p, scheduleOut) },
		"ScheduleRun":        func(t *testing.T, p map[string]string) { mapped(t, p, scheduleRunOut) },
		"Execution":          func(t *testing.T, p map[string]string) { mapped(t, p, executionOut) },
		"PhaseVisit":         func(t *testing.T, p map[string]string) { mapped(t, p, phaseVisitOut) },
		"Task":               func(t *testing.T, p map[string]string) { mapped(t, p, taskOut) },
		"Approval":           func(t *testing.T, p map[string]string) { mapped(t, p, approvalOut) },
		"Incident":           func(t *testing.T, p map[string]string) { mapped(t, p, incidentOut) },
		"User":               func(t *testing.T, p map[string]string) { mapped(t, p, userOut) },
		"AgentRun":           func(t *testing.T, p map[string]string) { mapped(t, p, agentRunOut) },
		"Team":               func(t *testing.T, p map[string]string) { mapped(t, p, teamOut) },
		"Organization":       func(t *testing.T, p map[string]string) { mapped(t, p, organizationOut) },
		"Secret":             func(t *testing.T, p map[string]string) { mapped(t, p, secretOut) },
		"AuditEntry":         func(t *testing.T, p map[string]string) { mapped(t, p, auditEntryOut) },
		"CreditEntry":        func(t *testing.T, p map[string]string) { mapped(t, p, creditEntryOut) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, private[name])
		})
	}
}

func mapped[E, Out any](t *testing.T, private map[string]string, out func(*E) Out) {
	t.Helper()
	typ, seen := reflect.TypeFor[E](), 0
	for f := range typ.Fields() {
		if !f.IsExported() || f.Anonymous || f.Name == "Edges" {
			continue
		}
		seen++
		row := new(E)
		before, err := json.Marshal(out(row))
		require.NoError(t, err)
		distinct(t, reflect.ValueOf(row).Elem().FieldByIndex(f.Index), f.Name)
		after, err := json.Marshal(out(row))
		require.NoError(t, err)
		if reason, ok := private[f.Name]; ok {
			require.NotEmpty(t, reason)
			require.Equal(t, string(before), string(after), "%s.%s is private: %s", typ.Name(), f.Name, reason)
			continue
		}
		require.NotEqual(t, string(before), string(after), "%s.%s is in no answer: map it, or list it as private with a reason", typ.Name(), f.Name)
		require.Contains(t, string(after), marker(f), "%s.%s", typ.Name(), f.Name)
	}
	require.Greater(t, seen, 4)
	for name := range private {
		_, ok := typ.FieldByName(name)
		require.True(t, ok, "%s has no column %s that could be private", typ.Name(), name)
	}
}

// moment is a unique time.
var moment = time.Date(2031, 4, 5, 6, 7, 8, 9e6, time.UTC)

// keptDocument returns a unique document for a column, in the shape that answers parse.
func keptDocument(column string) json.RawMessage {
	switch column {
	case "Error":
		return json.RawMessage(`{"code":"distinct"}`)
	case "Approvers":
		return json.RawMessage(`[{"id":"distinct"}]`)
	case "Decisions":
		return json.RawMessage(`[{"comment":"distinct"}]`)
	case "Corrections":
		return json.RawMessage(`[{"message":"distinct"}]`)
	case "Shown":
		return json.RawMessage(`[{"name":"distinct"}]`)
	case "Faults":
		return json.RawMessage(`[{"message":"distinct"}]`)
	case "Every":
		return json.RawMessage(`{"unit":"distinct"}`)
	case "Steps":
		return json.RawMessage(`[{"operation":"distinct"}]`)
	case "Form":
		return json.RawMessage(`{"fields":[{"key":"distinct","type":"text"}]}`)
	}
	return json.RawMessage(`{"distinct":"` + column + `"}`)
}

// distinct sets a field to a unique value.
func distinct(t *testing.T, v reflect.Value, name string) {
	t.Helper()
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(moment))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(keptDocument(name)))
		return
	case []string:
		v.Set(reflect.ValueOf([]string{"distinct" + name}))
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
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		distinct(t, v.Elem(), name)
	case reflect.String:
		v.SetString("distinct" + name)
	case reflect.Int, reflect.Int8, reflect.Int64:
		v.SetInt(97)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.SetBytes([]byte("distinct" + name))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("distinct"), reflect.ValueOf(name).Convert(reflect.TypeFor[string]()))
	default:
		t.Fatalf("a column of kind %s takes a case here", v.Kind())
	}
}

// marker returns the text that a field set by distinct must leave in an answer.
func marker(f reflect.StructField) string {
	typ := f.Type
	if typ == reflect.TypeFor[*sla.ByPriority]() {
		return "97"
	}
	if typ == reflect.TypeFor[json.RawMessage]() || typ == reflect.TypeFor[*form.Definition]() {
		return "distinct"
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
	case typ.Kind() == reflect.Int, typ.Kind() == reflect.Int8, typ.Kind() == reflect.Int64:
		return "97"
	default:
		return "distinct"
	}
}

// TestEdgesAreAnswered checks values that are stored in tables of their own.
func TestEdgesAreAnswered(t *testing.T) {
	t.Parallel()
	team := &ent.Team{Edges: ent.TeamEdges{Members: []*ent.TeamMember{{UserID: "usr_b"}, {UserID: "usr_a"}}}}
	require.Equal(t, []string{"usr_a", "usr_b"}, teamOut(team).MemberIDs)
	user := &ent.User{Edges: ent.UserEdges{Memberships: []*ent.TeamMember{{TeamID: "team_b"}, {TeamID: "team_a"}}}}
	require.Equal(t, []string{"team_a", "team_b"}, userOut(user).TeamIDs)
}
