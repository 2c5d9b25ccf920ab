package authz

import (
	"reflect"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	wording "atrium/internal/platform/text"
)

// kind is the type of an attribute's values. Values of different kinds never compare.
type kind uint8

const (
	text kind = iota
	number
	boolean
	moment
	list // of texts
)

func (k kind) String() string {
	return [...]string{"a text", "a number", "a boolean", "a date-time", "a list"}[k]
}

// MomentFormat is the format of moments in documents and compiled policies: in UTC and of fixed length, so that they
// order like texts.
const MomentFormat = "2006-01-02T15:04:05.000000Z"

// attribute is one property of a row.
type attribute struct {
	name   string   // as the API spells it
	path   []string // the name split at its dots: the position in the document
	kind   kind
	isMap  bool   // texts by key, such as tags
	blank  bool   // an empty text means none
	column string // the table's column; for a list, that of team_members
	own    string // lists: the column of team_members with the row's id
	field  int    // index in the entity
	term   *ast.Term
}

// renamed maps attributes whose name at the doors differs from their column's.
var renamed = map[string]map[string]string{
	"Offering": {
		"responseMinutes": "sla.responseMinutes", "resolutionMinutes": "sla.resolutionMinutes",
		"warnAtPercent": "sla.warnAtPercent", "calendarId": "sla.calendarId",
	},
	"Request": {"responseDueAt": "sla.responseDueAt", "resolutionDueAt": "sla.resolutionDueAt", "slaState": "sla.state"},
	"Task":    {"responseDueAt": "sla.responseDueAt", "resolutionDueAt": "sla.resolutionDueAt", "slaState": "sla.state"},
	AuditEntry: {
		"actorType": "actor.type", "actorId": "actor.id", "actorName": "actor.name",
		"resourceType": "resource.type", "resourceId": "resource.id", "createdAt": "at",
	},
	"AccessDecision": {
		"principalType": "principal.type", "principalId": "principal.id", "principalName": "principal.name",
		"resourceType": "resource.type", "resourceId": "resource.id", "createdAt": "at",
		"decidedKind": "decidedBy.kind", "decidedId": "decidedBy.id",
	},
}

// unaddressable lists the columns that no policy can read, with the reason; "" stands for every entity.
var unaddressable = map[string]map[string]string{
	"":        {"companyId": "policies are of one company"},
	"Comment": {"mentioned": "a list"},
	"User": {
		"notifications": "each person's own matter",
		"accountId":     "a sign-in may be in several companies", "liveUserId": "how a sandbox mirrors people is the product's matter",
		"signedOutAt": "since when tokens count is the product's matter",
		"acceptedAt":  "the status says whether somebody has come",
	},
	"Request": {
		"priorityRank": "follows priority", "fields": "a document", "slaNextAt": "the sweep's own",
		"responseDueOrder": "follows sla.responseDueAt", "resolutionDueOrder": "follows sla.resolutionDueAt",
	},
	"Offering": {"form": "a document", "slaByPriority": "a document", "slaEscalations": "a document"},
	"Workflow": {"definition": "a document"},

	"Agent":    {"tools": "a document", "limits": "a document", "scopes": "a list that no filter of rows can compare"},
	"AgentRun": {"steps": "a document"},

	"ModelConnection": {"models": "a list that no filter of rows can compare"},
	"AgentAction": {
		"arguments": "a document", "changes": "a document", "rows": "a list that no filter of rows can compare", "confidence": "no number that columns compare alike",
	},
	"Execution": {
		"state": "a document", "webhook": "a document", "error": "a document", "revision": "counts the engine's commits",
		"intake": "a document", "input": "a document", "consulted": "a list", "inboundKey": "the caller's own",
	},
	"Schedule":       {"request": "a document", "every": "a document"},
	"InboundWebhook": {"fieldMapping": "a document", "headers": "a list", "signature": "a document"},
	"InboundCall":    {"headers": "what anonymous callers send", "body": "what anonymous callers send"},
	"Task": {
		"form": "a document", "corrections": "a document", "variables": "a document", "outcomes": "a list",
		"visit": "the engine's own", "attempt": "the engine's own", "slaLevels": "a document", "slaNextAt": "the sweep's own",
	},
	"Approval": {"approvers": "a document", "decisions": "a document", "visit": "the engine's own", "attempt": "the engine's own"},
	"Incident": {"variables": "a document", "visit": "the engine's own", "attempt": "the engine's own"},
	AuditEntry: {
		"changes": "a document", "actorSeal": "the log's own", "changesSeal": "the log's own", "leafHash": "the log's own",
	},
	"APIKey":              {"scopes": "a list", "allowedIps": "a list"},
	"Invoice":             {"lines": "a document"},
	"OAuthClient":         {"redirectUris": "a list", "postLogoutRedirectUris": "a list", "scopes": "a list"},
	"Secret":              {"allowedHosts": "a list"},
	"ServiceAccount":      {"liveAccountId": "how a sandbox mirrors accounts is the product's matter"},
	"WebhookSubscription": {"events": "a list"},
	"WebhookDelivery":     {"attempts": "a document"},
	"Calendar":            {"workingHours": "a document", "holidays": "a list", "exceptions": "a document"},
	"RoutingRule":         {"lastAssigneeId": "whose turn it was is the product's own"},
	"AccessPolicy":        {"condition": "a document"},
	"AccessDecision":      {"input": "a document"},
}

// blanks are the columns in which an empty text means none; the doors answer null for it.
var blanks = map[string]bool{"description": true, "ip": true, "userAgent": true, "requestId": true}

// columns lists the attributes in the columns of an Ent entity. It leaves out sensitive columns, which Ent keeps out
// of JSON, and columns whose type policies cannot compare; a test fails for such a column unless unaddressable lists
// it.
func columns(resource string, row reflect.Type) []*attribute {
	var out []*attribute
	for f := range row.Fields() {
		column, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || f.Name == "Edges" || column == "-" {
			continue
		}
		name := wording.Camel(column)
		if unaddressable[""][name] != "" || unaddressable[resource][name] != "" {
			continue
		}
		a := &attribute{name: name, column: column, field: f.Index[0], blank: blanks[name]}
		if to, ok := renamed[resource][name]; ok {
			a.name = to
		}
		a.path = strings.Split(a.name, ".")
		a.term = ast.StringTerm(a.path[len(a.path)-1])
		if !a.typed(f.Type) {
			continue
		}
		out = append(out, a)
	}
	return out
}

// typed sets the kind from a Go type; false when policies cannot compare the type.
func (a *attribute) typed(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		a.kind = moment
	case t == reflect.TypeFor[map[string]string]():
		a.kind, a.isMap = text, true
	case t.Kind() == reflect.String:
		a.kind = text
	case t.Kind() == reflect.Bool:
		a.kind = boolean
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		a.kind = number
	default:
		return false
	}
	return true
}

// value returns the attribute of an entity as in JSON; nil when it is not set.
func (a *attribute) value(row reflect.Value) any {
	f := row.Field(a.field)
	if f.Kind() == reflect.Pointer {
		if f.IsNil() {
			return nil
		}
		f = f.Elem()
	}
	switch {
	case a.isMap:
		if f.Len() == 0 {
			return nil
		}
		return f.Interface()
	case a.kind == moment:
		t, _ := f.Interface().(time.Time)
		return t.UTC().Format(MomentFormat)
	case a.kind == boolean:
		return f.Bool()
	case a.kind == number:
		return f.Int()
	}
	if s := f.String(); s != "" || !a.blank {
		return s
	}
	return nil
}
