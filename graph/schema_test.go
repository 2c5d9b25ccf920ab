package graph

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph/internal/limit"
	"atrium/internal/agent"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/evaluation"
	"atrium/internal/agent/runs"
	"atrium/internal/billing"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/pack"
	"atrium/internal/desk/reportmail"
	"atrium/internal/desk/request"
	"atrium/internal/desk/requestimport"
	"atrium/internal/desk/routing"
	"atrium/internal/desk/savedreply"
	"atrium/internal/desk/savedview"
	"atrium/internal/desk/sla"
	"atrium/internal/identity"
	"atrium/internal/identity/apikey"
	"atrium/internal/identity/signin"
	"atrium/internal/identity/websession"
	"atrium/internal/notify/mailbox"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/auditlog"
	"atrium/internal/people"
	"atrium/internal/people/company"
	"atrium/internal/policy"
	"atrium/internal/secret"
	"atrium/internal/webhook"
	"atrium/internal/webhook/inbound"
	"atrium/internal/webhook/preset"
	"atrium/internal/workflow"
	"atrium/internal/workflow/execution"
	"atrium/internal/workflow/schedule"
	"atrium/internal/workflow/trial"
)

// own returns the types that the schema itself declares, in order.
func own(s *ast.Schema) []*ast.Definition {
	var out []*ast.Definition
	for _, name := range slices.Sorted(maps.Keys(s.Types)) {
		if def := s.Types[name]; !def.BuiltIn && !strings.HasPrefix(name, "__") {
			out = append(out, def)
		}
	}
	return out
}

func TestEverythingIsDescribed(t *testing.T) {
	t.Parallel()
	types := own(Schema())
	require.Greater(t, len(types), 100)
	for _, def := range types {
		require.NotEmpty(t, def.Description, def.Name)
		for _, f := range def.Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			require.NotEmpty(t, f.Description, "%s.%s", def.Name, f.Name)
			for _, a := range f.Arguments {
				require.NotEmpty(t, a.Description, "%s.%s(%s)", def.Name, f.Name, a.Name)
			}
		}
		for _, v := range def.EnumValues {
			require.NotEmpty(t, v.Description, "%s.%s", def.Name, v.Name)
		}
	}
}

// inputs are the operations of the mutations, by the mutation's name; about is the input's field for the id that REST has in its
// path.
var inputs = map[string]struct {
	op    *op.Info
	about string
}{
	"createService":              {catalog.CreateService.Info(), ""},
	"updateService":              {catalog.UpdateService.Info(), "id"},
	"deleteService":              {catalog.DeleteService.Info(), "id"},
	"createOffering":             {catalog.CreateOffering.Info(), "serviceId"},
	"updateOAuthClient":          {identity.UpdateClient.Info(), "id"},
	"updateOffering":             {catalog.UpdateOffering.Info(), "id"},
	"deleteOffering":             {catalog.DeleteOffering.Info(), "id"},
	"createRequest":              {request.Create.Info(), ""},
	"updateRequest":              {request.Update.Info(), "id"},
	"updateRequests":             {request.Bulk.Info(), ""},
	"acceptRequest":              {request.Accept.Info(), "id"},
	"declineRequest":             {request.Decline.Info(), "id"},
	"reopenRequest":              {request.Reopen.Info(), "id"},
	"watchRequest":               {request.Watch.Info(), "id"},
	"unwatchRequest":             {request.Unwatch.Info(), "id"},
	"moveRequest":                {request.Move.Info(), "id"},
	"takeNextRequest":            {request.TakeNext.Info(), ""},
	"setWaiting":                 {request.SetWaiting.Info(), "id"},
	"snoozeRequest":              {request.Snooze.Info(), "id"},
	"cancelSubscription":         {billing.CancelSubscription.Info(), ""},
	"changePlan":                 {billing.ChangePlan.Info(), ""},
	"createAttachment":           {attachment.Create.Info(), ""},
	"deleteAttachment":           {attachment.Delete.Info(), "id"},
	"createComment":              {request.CreateComment.Info(), "requestId"},
	"updateComment":              {request.UpdateComment.Info(), "id"},
	"deleteComment":              {request.DeleteComment.Info(), "id"},
	"createWorkflow":             {workflow.CreateWorkflow.Info(), ""},
	"updateWorkflow":             {workflow.UpdateWorkflow.Info(), "id"},
	"publishWorkflow":            {workflow.PublishWorkflow.Info(), "id"},
	"deleteWorkflow":             {workflow.DeleteWorkflow.Info(), "id"},
	"createSchedule":             {schedule.Create.Info(), ""},
	"updateSchedule":             {schedule.Update.Info(), "id"},
	"deleteSchedule":             {schedule.Delete.Info(), "id"},
	"runSchedule":                {schedule.Run.Info(), "id"},
	"createCalendar":             {workflow.CreateCalendar.Info(), ""},
	"updateCalendar":             {workflow.UpdateCalendar.Info(), "id"},
	"deleteCalendar":             {workflow.DeleteCalendar.Info(), "id"},
	"createRequestLink":          {request.CreateLink.Info(), "id"},
	"deleteRequestLink":          {request.DeleteLink.Info(), "id"},
	"mergeRequest":               {request.Merge.Info(), "id"},
	"rateRequest":                {request.Rate.Info(), "id"},
	"importRequests":             {requestimport.Create.Info(), ""},
	"installPack":                {pack.Install.Info(), ""},
	"startRequestImport":         {requestimport.Start.Info(), "id"},
	"stopRequestImport":          {requestimport.Stop.Info(), "id"},
	"createSavedReply":           {savedreply.Create.Info(), ""},
	"updateSavedReply":           {savedreply.Update.Info(), "id"},
	"deleteSavedReply":           {savedreply.Delete.Info(), "id"},
	"createReportSubscription":   {reportmail.Create.Info(), ""},
	"updateReportSubscription":   {reportmail.Update.Info(), "id"},
	"deleteReportSubscription":   {reportmail.Delete.Info(), "id"},
	"createSavedView":            {savedview.Create.Info(), ""},
	"updateSavedView":            {savedview.Update.Info(), "id"},
	"deleteSavedView":            {savedview.Delete.Info(), "id"},
	"createRoutingRule":          {routing.Create.Info(), ""},
	"updateRoutingRule":          {routing.Update.Info(), "id"},
	"deleteRoutingRule":          {routing.Delete.Info(), "id"},
	"createModelConnection":      {agent.CreateConnection.Info(), ""},
	"updateModelConnection":      {agent.UpdateConnection.Info(), "id"},
	"deleteModelConnection":      {agent.DeleteConnection.Info(), "id"},
	"evaluateAgent":              {evaluation.Evaluate.Info(), "id"},
	"testAgent":                  {evaluation.Test.Info(), "id"},
	"sendWorkflowCall":           {trial.Send.Info(), "id"},
	"replayAgentRun":             {evaluation.Replay.Info(), "id"},
	"createAgent":                {agent.Create.Info(), ""},
	"updateAgent":                {agent.Update.Info(), "id"},
	"deleteAgent":                {agent.Delete.Info(), "id"},
	"publishAgent":               {agent.Publish.Info(), "id"},
	"pauseAgent":                 {agent.Pause.Info(), "id"},
	"resumeAgent":                {agent.Resume.Info(), "id"},
	"stopAllAgents":              {runs.StopAll.Info(), ""},
	"stopAgentRun":               {runs.Stop.Info(), "id"},
	"rerunAgent":                 {runs.Rerun.Info(), ""},
	"applyProposal":              {actions.ApplyProposal.Info(), "id"},
	"rejectProposal":             {actions.RejectProposal.Info(), "id"},
	"decideAgentAction":          {actions.DecideAction.Info(), "id"},
	"inviteUser":                 {people.InviteUser.Info(), ""},
	"updateUser":                 {people.UpdateUser.Info(), "id"},
	"deactivateUser":             {people.DeactivateUser.Info(), "id"},
	"reactivateUser":             {people.ReactivateUser.Info(), "id"},
	"updateNotificationSettings": {notice.UpdateSettings.Info(), ""},
	"markNotificationsRead":      {notice.MarkRead.Info(), ""},
	"updateViewer":               {people.UpdateViewer.Info(), ""},
	"createTeam":                 {people.CreateTeam.Info(), ""},
	"updateTeam":                 {people.UpdateTeam.Info(), "id"},
	"deleteTeam":                 {people.DeleteTeam.Info(), "id"},
	"createOrganization":         {people.CreateOrganization.Info(), ""},
	"updateOrganization":         {people.UpdateOrganization.Info(), "id"},
	"deleteOrganization":         {people.DeleteOrganization.Info(), "id"},
	"createServiceAccount":       {people.CreateServiceAccount.Info(), ""},
	"updateServiceAccount":       {people.UpdateServiceAccount.Info(), "id"},
	"deleteServiceAccount":       {people.DeleteServiceAccount.Info(), "id"},
	"createSecret":               {secret.CreateSecret.Info(), ""},
	"updateSecret":               {secret.UpdateSecret.Info(), "id"},
	"rotateSecret":               {secret.RotateSecret.Info(), "id"},
	"deleteSecret":               {secret.DeleteSecret.Info(), "id"},
	"exportAudit":                {auditlog.Export.Info(), ""},
	"createApiKey":               {apikey.Create.Info(), ""},
	"createAgentKey":             {agent.CreateKey.Info(), ""},
	"rotateAgentSecret":          {agent.RotateSecret.Info(), "id"},
	"rotateApiKey":               {apikey.Rotate.Info(), "id"},
	"revokeApiKey":               {apikey.Revoke.Info(), "id"},
	"createOAuthClient":          {identity.CreateClient.Info(), ""},
	"deleteOAuthClient":          {identity.DeleteClient.Info(), "id"},
	"resendInvitation":           {people.ResendInvitation.Info(), "id"},
	"resetUserMfa":               {signin.ResetMFA.Info(), "id"},
	"endSession":                 {websession.End.Info(), "id"},
	"endAllSessions":             {websession.EndAll.Info(), ""},
	"erasePerson":                {people.ErasePerson.Info(), ""},
	"switchSession":              {websession.Switch.Info(), ""},
	"updateCompany":              {company.Update.Info(), ""},
	"createAccessPolicy":         {policy.Create.Info(), ""},
	"updateAccessPolicy":         {policy.Update.Info(), "id"},
	"deleteAccessPolicy":         {policy.Delete.Info(), "id"},
	"validateAccessPolicy":       {policy.Validate.Info(), ""},
	"createWebhookSubscription":  {webhook.CreateSubscription.Info(), ""},
	"updateWebhookSubscription":  {webhook.UpdateSubscription.Info(), "id"},
	"rotateWebhookSecret":        {webhook.RotateSecret.Info(), "id"},
	"deleteWebhookSubscription":  {webhook.DeleteSubscription.Info(), "id"},
	"sendTestEvent":              {webhook.SendTestEvent.Info(), ""},
	"replayWebhookDelivery":      {webhook.ReplayDelivery.Info(), "id"},
	"replayWebhookEvents":        {webhook.ReplayEvents.Info(), ""},
	"createMailbox":              {mailbox.Create.Info(), ""},
	"updateMailbox":              {mailbox.Update.Info(), "id"},
	"rotateMailboxPassword":      {mailbox.RotatePassword.Info(), "id"},
	"deleteMailbox":              {mailbox.Delete.Info(), "id"},
	"releaseInboundMail":         {mailbox.Release.Info(), "id"},
	"refuseInboundMail":          {mailbox.Refuse.Info(), "id"},
	"createInboundWebhook":       {inbound.CreateWebhook.Info(), ""},
	"updateInboundWebhook":       {inbound.UpdateWebhook.Info(), "id"},
	"rotateInboundWebhookSecret": {inbound.RotateSecret.Info(), "id"},
	"deleteInboundWebhook":       {inbound.DeleteWebhook.Info(), "id"},
	"replayInboundCall":          {inbound.ReplayCall.Info(), "id"},
	"assignTask":                 {execution.AssignTask.Info(), "id"},
	"cancelExecution":            {execution.Cancel.Info(), "id"},
	"claimTask":                  {execution.ClaimTask.Info(), "id"},
	"completeTask":               {execution.CompleteTask.Info(), "id"},
	"decideApproval":             {execution.DecideApproval.Info(), "id"},
	"delegateApproval":           {execution.DelegateApproval.Info(), "id"},
	"resolveIncident":            {execution.ResolveIncident.Info(), "id"},
}

// The input of every mutation has exactly the fields of its operation's input, and requires those that the operation requires.
func TestInputsAreThoseOfTheOperations(t *testing.T) {
	t.Parallel()
	s := Schema()
	var mutations []string
	for _, f := range s.Mutation.Fields {
		mutations = append(mutations, f.Name)
		known, ok := inputs[f.Name]
		require.True(t, ok, "%s names no registered operation: list it here", f.Name)
		require.True(t, slices.ContainsFunc(op.All(), func(i *op.Info) bool { return i == known.op }))
		name := strings.ToUpper(f.Name[:1]) + f.Name[1:]
		require.Equal(t, name+"Payload", f.Type.String(), "null when it is refused")
		require.Len(t, f.Arguments, 1)
		require.Equal(t, name+"Input!", f.Arguments.ForName("input").Type.String())
		def := s.Types[name+"Input"]

		var want, required []string
		if known.about != "" {
			want, required = append(want, known.about), append(required, known.about)
		}
		if row := s.Types[known.op.Resource]; (known.about == "id" || f.Name == "updateCompany") && row != nil && row.Fields.ForName("etag") != nil {
			want = append(want, "ifMatch")
		}
		if known.op.Input.HasBody() {
			want = slices.AppendSeq(want, maps.Keys(known.op.Input.Body.Properties))
			required = append(required, known.op.Input.Body.Required...)
		}
		for _, p := range known.op.Input.Params {
			if p.In == "query" && f.Name != "exportAudit" {
				want = append(want, p.Name)
			}
		}
		if f.Name == "exportAudit" {
			want = append(want, "filter") // the input struct of the list, whose fields REST reads from its query
		}
		var got, needed []string
		for _, field := range def.Fields {
			got = append(got, field.Name)
			if field.Type.NonNull {
				needed = append(needed, field.Name)
			}
		}
		require.ElementsMatch(t, want, got, f.Name)
		require.ElementsMatch(t, required, needed, "%s asks for other fields than its operation", f.Name)
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(inputs)), mutations)
}

// Objects inside inputs also have the fields of the operation's input.
func TestNestedInputsAreThoseOfTheOperations(t *testing.T) {
	t.Parallel()
	s := Schema()
	for name, typ := range map[string]reflect.Type{
		"ScheduleEveryInput": reflect.TypeFor[schedule.Every](), "InboundSignatureInput": reflect.TypeFor[preset.Signature](),
		"OfferingSLAInput":  reflect.TypeFor[catalog.SLA](),
		"WorkingHoursInput": reflect.TypeFor[workflow.WorkingHours](), "CalendarExceptionInput": reflect.TypeFor[workflow.Exception](),
		"SLAByPriorityInput": reflect.TypeFor[sla.ByPriority](), "SLATargetsInput": reflect.TypeFor[sla.Targets](), "SLAEscalationInput": reflect.TypeFor[sla.Escalation](),
	} {
		var want, got []string
		for f := range typ.Fields() {
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			want = append(want, tag)
		}
		for _, f := range s.Types[name].Fields {
			got = append(got, f.Name)
		}
		require.ElementsMatch(t, want, got, name)
	}
}

// Lists have the filters and orders of their operations, and pages of 1 to 100 rows, 20 by default.
func TestListsTakeWhatTheirOperationsTake(t *testing.T) {
	t.Parallel()
	s := Schema()
	lists := map[string]*op.Info{
		"services": catalog.ListServices.Info(), "requests": request.List.Info(), "workflows": workflow.ListWorkflows.Info(),
		"users": people.ListUsers.Info(), "teams": people.ListTeams.Info(), "organizations": people.ListOrganizations.Info(),
		"secrets": secret.ListSecrets.Info(), "auditEntries": auditlog.ListEntries.Info(), "apiKeys": apikey.List.Info(), "oauthClients": identity.ListClients.Info(), "sessions": websession.List.Info(),
		"serviceAccounts": people.ListServiceAccounts.Info(), "calendars": workflow.ListCalendars.Info(), "routingRules": routing.List.Info(), "reportSubscriptions": reportmail.List.Info(), "schedules": schedule.List.Info(), "scheduleRuns": schedule.ListRuns.Info(), "requestImports": requestimport.List.Info(), "savedReplies": savedreply.List.Info(), "savedViews": savedview.List.Info(), "agents": agent.List.Info(), "modelConnections": agent.ListConnections.Info(), "agentRuns": runs.List.Info(), "agentActions": actions.List.Info(),
		"accessPolicies": policy.List.Info(), "accessDecisions": policy.ListDecisions.Info(),
		"webhookSubscriptions": webhook.ListSubscriptions.Info(), "webhookDeliveries": webhook.ListDeliveries.Info(),
		"inboundMails": mailbox.ListMessages.Info(), "mailboxes": mailbox.List.Info(),
		"inboundWebhooks": inbound.ListWebhooks.Info(), "inboundCalls": inbound.ListCalls.Info(),
		"approvals": execution.ListApprovals.Info(), "executions": execution.List.Info(), "incidents": execution.ListIncidents.Info(), "tasks": execution.ListTasks.Info(),
		"invoices":      billing.ListInvoices.Info(),
		"notifications": notice.List.Info(),
		"creditHistory": nil, // has one order only
	}
	seen := 0
	for _, def := range own(s) {
		for _, f := range def.Fields {
			if !strings.HasSuffix(f.Type.Name(), "Connection") || s.Types[f.Type.Name()].Fields.ForName("edges") == nil {
				continue
			}
			require.False(t, f.Type.NonNull, "%s.%s: a refusal must leave its neighbours alone", def.Name, f.Name)
			require.Equal(t, "Int", f.Arguments.ForName("first").Type.String())
			require.Equal(t, "20", f.Arguments.ForName("first").DefaultValue.Raw)
			require.Equal(t, 20, limit.DefaultFirst)
			require.Equal(t, "String", f.Arguments.ForName("after").Type.String())
			if def != s.Query {
				continue
			}
			seen++
			info, known := lists[f.Name]
			require.True(t, known, f.Name)
			if info == nil {
				require.Len(t, f.Arguments, 2)
				continue
			}
			sorts := s.Types[strings.TrimSuffix(f.Arguments.ForName("orderBy").Type.Name(), "Order")+"Sort"]
			require.ElementsMatch(t, slices.Collect(maps.Keys(info.Sorts)), valuesOf(sorts), f.Name)
			var want, got []string
			for _, p := range info.Input.Params {
				if p.In != "path" && p.Name != "page" && p.Name != "pageSize" && p.Name != "sort" {
					want = append(want, strings.TrimSuffix(p.Name, ".*"))
				}
			}
			if filter := f.Arguments.ForName("filter"); filter != nil {
				for _, field := range s.Types[filter.Type.Name()].Fields {
					got = append(got, field.Name)
				}
			}
			for _, a := range f.Arguments {
				if slices.Contains([]string{"webhookDeliveries.subscriptionId", "inboundCalls.webhookId", "notifications.unread", "scheduleRuns.scheduleId"}, f.Name+"."+a.Name) {
					continue // only GraphQL has it, like the list, or REST has it in the path
				}
				if !slices.Contains([]string{"first", "after", "orderBy", "filter"}, a.Name) {
					got = append(got, a.Name) // a filter as an argument of its own
				}
			}
			require.ElementsMatch(t, want, got, "%s filters by other fields than REST", f.Name)
		}
	}
	require.Equal(t, len(lists), seen)
}

// A subscription tells what happened and shows the present row; the subscription of a list has the list's filter.
func TestSubscriptionsTellOfRows(t *testing.T) {
	t.Parallel()
	s := Schema()
	rows := map[string]string{"requestChanged": "Request", "webhookDeliveryChanged": "WebhookDelivery", "executionChanged": "Execution", "taskChanged": "Task", "agentRunChanged": "AgentRun", "auditEntryChanged": "AuditEntry"}
	require.Len(t, s.Subscription.Fields, len(rows)+1)
	for _, f := range s.Subscription.Fields {
		if f.Name == "notificationAdded" {
			continue // notifications never change
		}
		row, known := rows[f.Name]
		require.True(t, known, f.Name)
		require.Equal(t, row+"Change!", f.Type.String())
		payload := s.Types[row+"Change"]
		require.Len(t, payload.Fields, 2)
		require.Equal(t, "ChangeKind!", payload.Fields.ForName("change").Type.String())
		require.Equal(t, row+"!", payload.Fields.ForName(strings.ToLower(row[:1])+row[1:]).Type.String())
		for _, a := range f.Arguments {
			require.False(t, a.Type.NonNull, "%s(%s): without it everything is watched", f.Name, a.Name)
		}
	}
	for list, watched := range map[string]string{"requests": "requestChanged", "executions": "executionChanged", "tasks": "taskChanged", "auditEntries": "auditEntryChanged"} {
		require.Equal(t, s.Query.Fields.ForName(list).Arguments.ForName("filter").Type.String(),
			s.Subscription.Fields.ForName(watched).Arguments.ForName("filter").Type.String())
	}
}

func valuesOf(def *ast.Definition) []string {
	var out []string
	for _, v := range def.EnumValues {
		out = append(out, v.Name)
	}
	return out
}

// Enums have exactly the values that REST's filters and bodies accept.
func TestEnumsAreSpelledAsInREST(t *testing.T) {
	t.Parallel()
	s := Schema()
	want := map[string][]any{}
	collect := func(field string, values []any) {
		if len(values) > 0 {
			want[field] = values
		}
	}
	for name, known := range inputs {
		if known.op.Input.HasBody() {
			for field, p := range known.op.Input.Body.Properties {
				collect(name+"."+field, p.Enum)
			}
		}
	}
	require.NotEmpty(t, want)
	for at, values := range want {
		mutation, field, _ := strings.Cut(at, ".")
		input := s.Types[strings.ToUpper(mutation[:1])+mutation[1:]+"Input"]
		def := s.Types[input.Fields.ForName(field).Type.Name()]
		require.Equal(t, ast.Enum, def.Kind, at)
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i], _ = v.(string)
		}
		require.ElementsMatch(t, texts, valuesOf(def), at)
	}
}

// Every Node can be read by its id.
func TestEveryNodeHasAPrefix(t *testing.T) {
	t.Parallel()
	s := Schema()
	require.Len(t, nodes, len(s.PossibleTypes["Node"]))
	for _, def := range s.PossibleTypes["Node"] {
		prefix, _, _ := strings.Cut(strings.TrimPrefix(def.Fields.ForName("id").Description[strings.LastIndex(def.Fields.ForName("id").Description, " ")+1:], " "), "_")
		require.Contains(t, nodes, prefix, def.Name)
	}
}
