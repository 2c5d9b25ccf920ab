package schema_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/requestlink"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// rows are the ids of a company's rows, by entity.
type rows map[string]any

func (r rows) id(entity string) string { return r[entity].(string) }

// fixture makes one row of an entity: build returns a create with every field but company_id. tag keeps unique values
// apart; the rows that the entity refers to stand before it in the list.
type fixture struct {
	entity string
	build  func(db *ent.Client, own rows, tag string) any
}

// number makes one of a tag.
func number(tag string) int64 { return int64(crc32.ChecksumIEEE([]byte(tag))) }

// fixtures has one row for every entity of the schema; a test fails when one is missing.
var fixtures = []fixture{
	{"Company", func(db *ent.Client, _ rows, tag string) any {
		return db.Company.Create().SetName("C").SetSlug("c-" + tag)
	}},
	{"Account", func(db *ent.Client, _ rows, tag string) any { return db.Account.Create().SetEmail(tag + "@x.test") }},
	{"RateCount", func(db *ent.Client, _ rows, tag string) any {
		return db.RateCount.Create().SetID("rate-" + tag).SetDay("2026-01-01").SetCount(1)
	}},
	{"Setting", func(db *ent.Client, _ rows, tag string) any {
		return db.Setting.Create().SetID("set-" + tag).SetValue("v")
	}},
	{"SigningKey", func(db *ent.Client, _ rows, _ string) any {
		return db.SigningKey.Create().SetAlgorithm("ES256").SetPrivateSealed([]byte("s")).SetPublicJwk([]byte("{}"))
	}},
	{"SignIn", func(db *ent.Client, own rows, tag string) any {
		return db.SignIn.Create().SetAccountID(own.id("Account")).SetTokenHash([]byte(tag)).SetMethods([]string{"pwd"}).
			SetAuthenticatedAt(time.Now()).SetExpiresAt(time.Now())
	}},
	{"AuthRequest", func(db *ent.Client, _ rows, tag string) any {
		return db.AuthRequest.Create().SetClientID("cli_1").SetRedirectURI("https://app.test/").SetScopes([]string{"openid"}).
			SetCodeChallenge("c").SetCodeHash([]byte(tag)).SetExpiresAt(time.Now())
	}},
	{"Factor", func(db *ent.Client, own rows, tag string) any {
		return db.Factor.Create().SetAccountID(own.id("Account")).SetKind("passkey").SetName("F").SetCredentialID([]byte(tag))
	}},
	{"RecoveryCode", func(db *ent.Client, own rows, tag string) any {
		return db.RecoveryCode.Create().SetAccountID(own.id("Account")).SetHash([]byte(tag))
	}},
	{"MailedLink", func(db *ent.Client, own rows, tag string) any {
		return db.MailedLink.Create().SetKind("password_reset").SetTokenHash([]byte(tag)).SetAccountID(own.id("Account")).SetExpiresAt(time.Now())
	}},
	{"Throttle", func(db *ent.Client, _ rows, tag string) any {
		return db.Throttle.Create().SetID("throttle-" + tag).SetFailures(1).SetExpiresAt(time.Now())
	}},
	{"User", func(db *ent.Client, own rows, tag string) any {
		return db.User.Create().SetAccountID(own.id("Account")).SetEmail(tag + "@x.test").SetName("U")
	}},
	{"ServiceAccount", func(db *ent.Client, _ rows, _ string) any { return db.ServiceAccount.Create().SetName("SA") }},
	{"Organization", func(db *ent.Client, own rows, tag string) any {
		return db.Organization.Create().SetName("O").SetSlug("o-" + tag).SetParentID(own.id("Parent"))
	}},
	{"Team", func(db *ent.Client, own rows, tag string) any {
		return db.Team.Create().SetName("T").SetSlug("t-" + tag).SetOrganizationID(own.id("Organization"))
	}},
	{"TeamMember", func(db *ent.Client, own rows, tag string) any {
		u := own.id("User")
		if !strings.HasPrefix(tag, "seed") {
			u = own.id("Owner") // a second membership of the same user would not be unique
		}
		return db.TeamMember.Create().SetTeamID(own.id("Team")).SetUserID(u)
	}},
	{"Calendar", func(db *ent.Client, _ rows, _ string) any { return db.Calendar.Create().SetName("Cal") }},
	{"RoutingRule", func(db *ent.Client, own rows, _ string) any {
		return db.RoutingRule.Create().SetName("R").SetPosition(1).SetWhen("true").SetTeamID(own.id("Team"))
	}},
	{"Workflow", func(db *ent.Client, _ rows, tag string) any {
		return db.Workflow.Create().SetName("W").SetSlug("w-" + tag).SetDefinition(json.RawMessage(`{}`))
	}},
	{"WorkflowVersion", func(db *ent.Client, own rows, tag string) any {
		return db.WorkflowVersion.Create().SetWorkflowID(own.id("Workflow")).SetVersion(int(crc32.ChecksumIEEE([]byte(tag)))).
			SetDefinition(json.RawMessage(`{}`)).SetPublishedAt(time.Now()).SetPublishedBy(own.id("User"))
	}},
	{"Service", func(db *ent.Client, own rows, tag string) any {
		return db.Service.Create().SetName("S").SetSlug("s-" + tag).SetOwnerTeamID(own.id("Team")).SetOrganizationID(own.id("Organization"))
	}},
	{"Offering", func(db *ent.Client, own rows, tag string) any {
		return db.Offering.Create().SetName("F").SetSlug("f-" + tag).SetServiceID(own.id("Service")).
			SetWorkflowID(own.id("Workflow")).SetCalendarID(own.id("Calendar"))
	}},
	{"Request", func(db *ent.Client, own rows, _ string) any {
		return db.Request.Create().SetTitle("R").SetServiceID(own.id("Service")).SetOfferingID(own.id("Offering")).
			SetCreatedBy(own.id("User")).SetAssigneeID(own.id("User")).SetTeamID(own.id("Team"))
	}},
	{"Comment", func(db *ent.Client, own rows, _ string) any {
		return db.Comment.Create().SetRequestID(own.id("Request")).SetAuthorID(own.id("User")).SetBody("C")
	}},
	{"Watcher", func(db *ent.Client, own rows, tag string) any {
		u := own.id("User")
		if !strings.HasPrefix(tag, "seed") {
			u = own.id("Owner") // a second one of the same user would not be unique
		}
		return db.Watcher.Create().SetRequestID(own.id("Request")).SetUserID(u)
	}},
	{"Notification", func(db *ent.Client, own rows, _ string) any {
		return db.Notification.Create().SetUserID(own.id("User")).SetKind("mention").SetSubject("N").SetRequestID(own.id("Request"))
	}},
	{"RequestLink", func(db *ent.Client, own rows, tag string) any {
		kind := requestlink.TypeRelates
		if !strings.HasPrefix(tag, "seed") {
			kind = requestlink.TypeBlocks // a second one of the same type would not be unique
		}
		return db.RequestLink.Create().SetFromID(own.id("Request")).SetToID(own.id("Request")).SetType(kind).SetCreatedBy("usr_" + tag)
	}},
	{"RequestImport", func(db *ent.Client, _ rows, tag string) any {
		return db.RequestImport.Create().SetSource("csv").SetCreatedBy("usr_" + tag).SetRows(1).SetColumns(map[string]string{"title": "title"}).
			SetSettings(json.RawMessage(`{"source": "csv"}`)).SetCsv("title\nA\n")
	}},
	{"SavedReply", func(db *ent.Client, own rows, _ string) any {
		return db.SavedReply.Create().SetName("R").SetBody("B").SetScope("team").SetUserID(own.id("User")).SetTeamID(own.id("Team"))
	}},
	{"ReportSubscription", func(db *ent.Client, own rows, _ string) any {
		return db.ReportSubscription.Create().SetName("R").SetUserID(own.id("User")).SetNextAt(time.Now())
	}},
	{"SavedView", func(db *ent.Client, own rows, _ string) any {
		return db.SavedView.Create().SetName("V").SetScope("team").SetUserID(own.id("User")).SetTeamID(own.id("Team"))
	}},
	{"OAuthClient", func(db *ent.Client, own rows, _ string) any {
		return db.OAuthClient.Create().SetName("App").SetRedirectUris([]string{}).SetScopes([]string{}).SetCreatedBy(own.id("User"))
	}},
	{"Consent", func(db *ent.Client, own rows, tag string) any {
		u := own.id("User")
		if !strings.HasPrefix(tag, "seed") {
			u = own.id("Owner") // a second consent of the same user would not be unique
		}
		return db.Consent.Create().SetUserID(u).SetClientID(own.id("OAuthClient")).SetScopes([]string{"openid"})
	}},
	{"ExternalIdentity", func(db *ent.Client, own rows, tag string) any {
		return db.ExternalIdentity.Create().SetIssuer("https://issuer.test").SetSubject(tag).SetUserID(own.id("User"))
	}},
	{"Grant", func(db *ent.Client, own rows, _ string) any {
		return db.Grant.Create().SetUserID(own.id("User")).SetClientID(own.id("OAuthClient")).SetSignInID(own.id("SignIn")).
			SetScopes([]string{"openid"}).SetMethods([]string{"pwd"}).SetAuthenticatedAt(time.Now()).SetExpiresAt(time.Now())
	}},
	{"RefreshToken", func(db *ent.Client, own rows, tag string) any {
		return db.RefreshToken.Create().SetGrantID(own.id("Grant")).SetHash([]byte(tag)).SetExpiresAt(time.Now())
	}},
	{"Session", func(db *ent.Client, own rows, tag string) any {
		return db.Session.Create().SetUserID(own.id("User")).SetTokenHash([]byte(tag)).SetMethods([]string{"pwd"}).
			SetAuthenticatedAt(time.Now()).SetLastSeenAt(time.Now()).SetExpiresAt(time.Now())
	}},
	{"Secret", func(db *ent.Client, own rows, tag string) any {
		return db.Secret.Create().SetName("N-" + tag).SetSealed([]byte("x")).SetCreatedBy(own.id("User"))
	}},
	{"ModelConnection", func(db *ent.Client, _ rows, tag string) any {
		return db.ModelConnection.Create().SetName(tag).SetBaseURL("https://models.example.com/v1").SetModels([]string{"m"})
	}},
	{"Agent", func(db *ent.Client, own rows, _ string) any {
		return db.Agent.Create().SetName("A").SetType("QUEUE_INTAKE").SetSource("MANAGED").SetAutonomy("SUGGEST").SetOwnerID(own.id("User")).
			SetModelConnectionID(own.id("ModelConnection"))
	}},
	{"APIKey", func(db *ent.Client, own rows, tag string) any {
		return db.APIKey.Create().SetName("K").SetHash([]byte(tag)).SetPrefix("key_live_").SetLast4("last").SetScopes([]string{}).
			SetTest(false).SetUserID(own.id("User")).SetServiceAccountID(own.id("ServiceAccount")).SetAgentID(own.id("Agent")).SetCreatedBy(own.id("User"))
	}},
	{"AgentVersion", func(db *ent.Client, own rows, tag string) any {
		return db.AgentVersion.Create().SetAgentID(own.id("Agent")).SetVersion(int(crc32.ChecksumIEEE([]byte(tag)))).
			SetSettings(json.RawMessage(`{}`)).SetPublishedAt(time.Now()).SetPublishedBy(own.id("User"))
	}},
	{"Execution", func(db *ent.Client, own rows, _ string) any {
		return db.Execution.Create().SetWorkflowID(own.id("Workflow")).SetWorkflowVersion(1).SetRequestID(own.id("Request")).SetTrigger("request")
	}},
	{"PhaseVisit", func(db *ent.Client, own rows, tag string) any {
		return db.PhaseVisit.Create().SetExecutionID(own.id("Execution")).SetNumber(int(crc32.ChecksumIEEE([]byte(tag)))).SetPhaseID("p").SetType("START").
			SetStatus("RUNNING").SetStartedAt(time.Now())
	}},
	{"Task", func(db *ent.Client, own rows, tag string) any {
		return db.Task.Create().SetExecutionID(own.id("Execution")).SetRequestID(own.id("Request")).SetPhaseID("p").SetVisit(1).
			SetAttempt(int(crc32.ChecksumIEEE([]byte(tag)))).SetTitle("T").SetAssigneeID(own.id("User")).SetTeamID(own.id("Team")).SetAgentID(own.id("Agent"))
	}},
	{"AgentRun", func(db *ent.Client, own rows, tag string) any {
		return db.AgentRun.Create().SetAgentID(own.id("Agent")).SetAgentVersion(1).SetRequestID(own.id("Request")).
			SetNumber(int(crc32.ChecksumIEEE([]byte(tag)))).SetTrigger("created").SetTaskID(own.id("Task"))
	}},
	{"AgentTurn", func(db *ent.Client, own rows, tag string) any {
		return db.AgentTurn.Create().SetRunID(own.id("AgentRun")).SetPlan(1).SetN(int(crc32.ChecksumIEEE([]byte(tag))))
	}},
	{"AgentEvaluation", func(db *ent.Client, own rows, _ string) any {
		return db.AgentEvaluation.Create().SetAgentID(own.id("Agent")).SetSettings(json.RawMessage(`{}`)).SetDigest("d").SetCreatedBy(own.id("User"))
	}},
	{"AgentAction", func(db *ent.Client, own rows, _ string) any {
		return db.AgentAction.Create().SetRunID(own.id("AgentRun")).SetRequestID(own.id("Request")).SetStep(1).SetKind("PROPOSAL").
			SetOperation("updateRequest").SetRationale("because").SetConfidence(1).SetRows([]string{}).SetDigest("d").SetRowVersion("v")
	}},
	{"SLAEvent", func(db *ent.Client, own rows, tag string) any {
		return db.SLAEvent.Create().SetSubjectID(own.id("Request")).SetKind("WARNED").SetKey(tag).SetAt(time.Now())
	}},
	{"Approval", func(db *ent.Client, own rows, tag string) any {
		return db.Approval.Create().SetExecutionID(own.id("Execution")).SetRequestID(own.id("Request")).SetPhaseID("p").SetVisit(1).
			SetAttempt(int(crc32.ChecksumIEEE([]byte(tag)))).SetTitle("A").SetMode("any")
	}},
	{"Incident", func(db *ent.Client, own rows, tag string) any {
		return db.Incident.Create().SetExecutionID(own.id("Execution")).SetPhaseID("p").SetVisit(1).SetAttempt(int(crc32.ChecksumIEEE([]byte(tag)))).
			SetCode("call_failed").SetMessage("m")
	}},
	{"Event", func(db *ent.Client, own rows, _ string) any {
		return db.Event.Create().SetType("request.created").SetSubjectID(own.id("Request")).SetPayload(json.RawMessage(`{}`))
	}},
	{"WebhookSubscription", func(db *ent.Client, own rows, _ string) any {
		return db.WebhookSubscription.Create().SetURL("https://hook.test/").SetEvents([]string{}).SetSecretSealed([]byte("x")).SetCreatedBy(own.id("User"))
	}},
	{"WebhookDelivery", func(db *ent.Client, own rows, _ string) any {
		return db.WebhookDelivery.Create().SetSubscriptionID(own.id("WebhookSubscription")).SetEventID(own.id("Event")).SetEvent("request.created")
	}},
	{"InboundWebhook", func(db *ent.Client, own rows, _ string) any {
		return db.InboundWebhook.Create().SetName("I").SetWorkflowID(own.id("Workflow")).SetOfferingID(own.id("Offering")).
			SetSecretSealed([]byte("x")).SetCreatedBy(own.id("User"))
	}},
	{"Schedule", func(db *ent.Client, own rows, _ string) any {
		return db.Schedule.Create().SetName("S").SetWorkflowID(own.id("Workflow")).SetOfferingID(own.id("Offering")).SetCalendarID(own.id("Calendar")).
			SetTimeZone("UTC").SetRunsAs(own.id("User")).SetCreatedBy(own.id("User"))
	}},
	{"ScheduleRun", func(db *ent.Client, own rows, _ string) any {
		return db.ScheduleRun.Create().SetScheduleID(own.id("Schedule")).SetPlannedAt(time.Now()).SetStatus("SKIPPED")
	}},
	{"InboundCall", func(db *ent.Client, own rows, _ string) any {
		return db.InboundCall.Create().SetWebhookID(own.id("InboundWebhook")).SetOutcome("ACCEPTED")
	}},
	{"Attachment", func(db *ent.Client, own rows, _ string) any {
		return db.Attachment.Create().SetRequestID(own.id("Request")).SetCommentID(own.id("Comment")).SetName("a.txt").SetSize(1).SetCreatedBy(own.id("User"))
	}},
	{"Mailbox", func(db *ent.Client, own rows, tag string) any {
		return db.Mailbox.Create().SetAddress("help@example.com").SetKind("smtp").SetReceivesAt(tag + "@mail.test").SetOfferingID(own.id("Offering")).
			SetTeamID(own.id("Team")).SetCreatedBy(own.id("User"))
	}},
	{"InboundMail", func(db *ent.Client, own rows, _ string) any {
		return db.InboundMail.Create().SetMailboxID(own.id("Mailbox")).SetRecipient("help@mail.test").SetSize(1)
	}},
	{"CreditEntry", func(db *ent.Client, _ rows, tag string) any {
		return db.CreditEntry.Create().SetType("issued").SetAmount(1).SetReason("promotion").SetDescription("d").SetNumber(number(tag)).SetBalance(1)
	}},
	{"BillingAccount", func(db *ent.Client, _ rows, _ string) any { return db.BillingAccount.Create() }},
	{"Invoice", func(db *ent.Client, _ rows, tag string) any {
		return db.Invoice.Create().SetNumber(number(tag)).SetStatus("open").SetPeriodStart(time.Now()).SetPeriodEnd(time.Now()).
			SetLines(json.RawMessage(`[]`)).SetSubtotal(1).SetCreditsApplied(0).SetAmountDue(1).SetCurrency("usd")
	}},
	{"JournalLine", func(db *ent.Client, _ rows, _ string) any {
		return db.JournalLine.Create().SetSource("inv_1").SetAccount("revenue").SetAmount(1)
	}},
	{"CreditNote", func(db *ent.Client, _ rows, tag string) any {
		return db.CreditNote.Create().SetNumber(number(tag)).SetInvoiceID("inv_1").SetBillTo("A").SetDescription("D").SetAmount(1).SetCredited(0)
	}},
	{"Payment", func(db *ent.Client, _ rows, tag string) any {
		return db.Payment.Create().SetInvoiceID("inv_1").SetAttempt(int(number(tag))).SetAmount(1).SetCustomer("cus_1").SetPaymentMethod("pm_1").SetStatus("pending")
	}},
	{"IdempotencyKey", func(db *ent.Client, own rows, tag string) any {
		return db.IdempotencyKey.Create().SetCallerID(own.id("User")).SetKey(tag).SetFingerprint([]byte("f")).SetStatus(200).SetBody([]byte("b"))
	}},
	{"Sequence", func(db *ent.Client, _ rows, tag string) any { return db.Sequence.Create().SetKind(tag).SetLast(1) }},
	{"SearchDocument", func(db *ent.Client, _ rows, tag string) any {
		return db.SearchDocument.Create().SetKind("request").SetRowID("req_" + tag)
	}},
	{"RequestTag", func(db *ent.Client, own rows, tag string) any {
		return db.RequestTag.Create().SetRequestID(own.id("Request")).SetKey("site").SetValue(tag)
	}},
	{"RowCount", func(db *ent.Client, _ rows, tag string) any {
		return db.RowCount.Create().SetKind("test").SetFacet(tag).SetShard(0).SetN(1)
	}},
	{"AccessPolicy", func(db *ent.Client, own rows, _ string) any {
		return db.AccessPolicy.Create().SetName("P").SetEffect("Deny").SetAction("delete").SetResource("Secret").
			SetCondition(json.RawMessage(`{"resource.name":"none"}`)).SetCreatedBy(own.id("User"))
	}},
	{"AccessPolicyVersion", func(db *ent.Client, _ rows, tag string) any {
		return db.AccessPolicyVersion.Create().SetPolicyID("pol_" + tag).SetVersion(1).SetChange("created").
			SetActorType("user").SetActorID("usr_1").SetActorName("U")
	}},
	{"AccessDecision", func(db *ent.Client, _ rows, _ string) any {
		return db.AccessDecision.Create().SetPrincipalType("user").SetPrincipalID("usr_1").SetPrincipalName("U").SetMethod("session").
			SetVerb("service.read").SetAction("read").SetResourceType("Service").SetAllowed(true).SetDecidedKind("role").
			SetDecidedID("owner").SetPolicies("").SetBundle("").SetRequestID("")
	}},
	{"AuditLeaf", func(db *ent.Client, _ rows, tag string) any {
		return db.AuditLeaf.Create().SetID("aud_" + tag).SetIndex(number(tag)).SetHashes([]byte("h"))
	}},
	{"AuditEntry", func(db *ent.Client, own rows, _ string) any {
		return db.AuditEntry.Create().SetActorType("user").SetActorID(own.id("User")).SetActorName("U").SetAction("service.created").
			SetResourceType("Service").SetOutcome("allowed").SetIP("").SetUserAgent("").SetRequestID("")
	}},
}

// seed makes one row of every entity for a tenant, and returns their ids. "Company" is the tenant itself.
func seed(t *testing.T, w *testkit.World, of *testkit.Tenant, tag string) rows {
	t.Helper()
	own := rows{"Company": of.Company.ID, "Owner": of.Owner.ID}
	err := w.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
		parent, err := tx.Organization.Create().SetCompanyID(of.Company.ID).SetName("P").SetSlug("p-" + tag).Save(ctx)
		if err != nil {
			return err
		}
		own["Parent"] = parent.ID
		for _, f := range fixtures {
			if f.entity == "Company" {
				continue
			}
			b := reflect.ValueOf(f.build(tx.Client, own, "seed"+tag))
			setCompany(b, of.Company.ID)
			row, err := save(ctx, b)
			if err != nil {
				return fmt.Errorf("%s: %w", f.entity, err)
			}
			own[f.entity] = row.Elem().FieldByName("ID").Interface()
		}
		return tx.Organization.Create().SetCompanyID(of.Company.ID).SetName("G").SetSlug("g-" + tag).SetParentID(own.id("Organization")).Exec(ctx)
	})
	require.NoError(t, err)
	return own
}

// setCompany names the owner of a new row where the entity has one.
func setCompany(builder reflect.Value, company string) {
	if m := builder.MethodByName("SetCompanyID"); m.IsValid() {
		m.Call([]reflect.Value{reflect.ValueOf(company)})
	}
}

func save(ctx context.Context, builder reflect.Value) (reflect.Value, error) {
	out := call(builder, "Save", ctx)
	return out[0], asError(out[1])
}

// kind says how an entity is guarded.
type kind int

const (
	owned kind = iota // has a company_id
	self              // the company itself
	global
)

// clients returns the client of every entity of the schema, by name.
func clients(db *ent.Client) map[string]reflect.Value {
	out := map[string]reflect.Value{}
	v := reflect.ValueOf(db).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && v.Field(i).Kind() == reflect.Pointer && v.Field(i).MethodByName("Query").IsValid() {
			out[f.Name] = v.Field(i)
		}
	}
	return out
}

func kindOf(name string, client reflect.Value) kind {
	row := client.MethodByName("Get").Type().Out(0).Elem()
	if _, ok := row.FieldByName("CompanyID"); ok {
		return owned
	}
	if name == "Company" {
		return self
	}
	return global
}

// call calls a method by name; arguments that are reflect.Values are passed as they are.
func call(v reflect.Value, method string, args ...any) []reflect.Value {
	m := v.MethodByName(method)
	if !m.IsValid() {
		panic(fmt.Sprintf("%s has no method %s", v.Type(), method))
	}
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		if rv, ok := a.(reflect.Value); ok {
			in[i] = rv
		} else {
			in[i] = reflect.ValueOf(a)
		}
	}
	return m.Call(in)
}

func asError(v reflect.Value) error {
	err, _ := v.Interface().(error)
	return err
}

// whereID narrows a query, update or delete to one id.
func whereID(q reflect.Value, id any) reflect.Value {
	where := q.MethodByName("Where")
	p := reflect.ValueOf(sql.FieldEQ("id", id)).Convert(where.Type().In(0).Elem())
	return where.Call([]reflect.Value{p})[0]
}

// touch makes an update change something that its row shows.
func touch(u reflect.Value) reflect.Value {
	for _, f := range []struct {
		method string
		value  any
	}{
		{"SetName", "touched"},
		{"SetN", int64(99)},
		{"SetLast", int64(99)},
		{"SetCount", 99},
		{"SetFailures", 99},
		{"SetValue", "touched"},
		{"SetEmail", "touched@x.test"},
		{"SetHashes", []byte("touched")},
		{"SetTokens", "touched"},
		{"SetUpdatedAt", time.Now()},
	} {
		if u.MethodByName(f.method).IsValid() {
			return call(u, f.method, f.value)[0]
		}
	}
	panic(fmt.Sprintf("nothing can be set on %s", u.Type()))
}

var errUndo = errors.New("undo")

// try runs fn in a transaction of the context's caller that is always rolled back, and returns fn's error.
func try(w *testkit.World, ctx context.Context, fn func(context.Context, *store.Tx) error) error {
	var out error
	err := w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		out = fn(ctx, tx)
		return errUndo
	})
	if !errors.Is(err, errUndo) {
		return errors.Join(out, err)
	}
	return out
}
