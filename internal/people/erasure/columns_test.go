package erasure_test

import (
	"slices"
	"strings"
	"testing"

	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/store"
)

// erased are the columns that lose what a person wrote or what names them, by whose rows they do.
var erased = map[string]string{
	"of the person and their mirror":         "users.email users.name users.attributes users.notifications users.locale users.time_zone api_keys.name api_keys.allowed_ips sessions.ip sessions.user_agent",
	"of the account, if it has no other":     "accounts.email accounts.password_hash factors.name sign_ins.ip sign_ins.user_agent throttles.id auth_requests.login_hint",
	"deleted with the person's access":       "external_identities.issuer external_identities.subject mailed_links.data consents.scopes auth_requests.redirect_uri auth_requests.state auth_requests.nonce",
	"of their requests":                      "requests.title requests.description requests.fields requests.tags requests.satisfaction_comment approvals.title tasks.title tasks.instructions tasks.form tasks.corrections executions.state executions.webhook executions.input executions.intake executions.error phase_visits.input phase_visits.error incidents.message",
	"of requests that they declined":         "requests.decline_reason",
	"that they completed or resolved":        "tasks.variables incidents.variables phase_visits.output",
	"of agents' runs on their requests":      "agent_runs.steps agent_runs.outcome agent_runs.reason agent_actions.arguments agent_actions.changes agent_actions.rationale",
	"that they decided":                      "agent_actions.comment approvals.decisions",
	"of all runs and evaluations":            "agent_turns.content agent_evaluations.cases agent_evaluations.results",
	"of their files, and of their requests'": "attachments.name",
	"deleted, mails that came from them":     "inbound_mails.message_id inbound_mails.sender inbound_mails.recipient inbound_mails.subject inbound_mails.excerpt inbound_mails.reason inbound_mails.peer inbound_mails.helo inbound_mails.mail_from inbound_mails.stored_as",
	"of their comments":                      "comments.body comments.quoted",
	"with the row that has the words":        "search_documents.tokens",
	"with the request that has the tags":     "request_tags.key request_tags.value",
	"deleted, their reports by mail":         "report_subscriptions.name report_subscriptions.query",
	"of their views for others":              "saved_views.name saved_views.query",
	"that tell others of their mentions":     "notifications.subject",
	"deleted, of all mails that wait":        "notifications.held",
	"of events about their requests":         "events.payload webhook_deliveries.attempts",
	"deleted, of calls by and about them":    "idempotency_keys.key idempotency_keys.header idempotency_keys.body access_decisions.principal_name access_decisions.input",
	"by and about them":                      "audit_entries.actor_name audit_entries.ip audit_entries.user_agent audit_entries.changes access_policy_versions.actor_name",
}

// stays are the other columns, by the reason for which they stay.
var stays = map[string]string{
	"the company's settings: whoever may change them takes a name out": "access_policies.name access_policies.description access_policies.condition access_policy_versions.before " +
		"agents.name agents.scopes agents.filter agents.instructions agents.model agents.limits agents.tools agents.endpoint_url agent_versions.settings agent_evaluations.settings " +
		"calendars.name calendars.time_zone calendars.working_hours calendars.holidays calendars.exceptions companies.name companies.slug companies.locale companies.time_zone " +
		"inbound_webhooks.name inbound_webhooks.field_mapping inbound_webhooks.headers inbound_webhooks.when inbound_webhooks.preset inbound_webhooks.signature model_connections.name model_connections.base_url model_connections.secret_name model_connections.models mailboxes.address mailboxes.receives_at mailboxes.authserv_id mailboxes.server mailboxes.username mailboxes.fault " +
		"oauth_clients.name oauth_clients.redirect_uris oauth_clients.post_logout_redirect_uris oauth_clients.backchannel_logout_uri oauth_clients.scopes " +
		"offerings.name offerings.slug offerings.description offerings.form offerings.sla_by_priority offerings.sla_escalations offerings.tags " +
		"organizations.name organizations.slug organizations.tags saved_replies.name saved_replies.body schedules.name schedules.request schedules.cron schedules.every schedules.time_zone schedule_runs.reason routing_rules.name routing_rules.when secrets.name secrets.description secrets.allowed_hosts service_accounts.name " +
		"services.name services.slug services.description services.tags teams.name teams.slug teams.description tasks.sla_levels tasks.outcomes tasks.outcome " +
		"webhook_subscriptions.url webhook_subscriptions.description webhook_subscriptions.events workflows.name workflows.slug workflows.description workflows.definition " +
		"workflow_versions.definition workflow_versions.uses api_keys.scopes",
	"documents that the law asks the company to keep":                               "invoices.bill_to invoices.lines invoices.currency credit_notes.bill_to credit_notes.description credit_entries.description",
	"what a sender outside has sent, swept by age":                                  "inbound_calls.headers inbound_calls.body inbound_calls.reason executions.inbound_key",
	"another system's table, removed when it has been brought in, and swept by age": "request_imports.csv request_imports.faults request_imports.columns request_imports.settings request_imports.source",
	"counts and figures of all runs":                                                "agent_evaluations.report agent_evaluations.reason",
	"ids, digests and words of the product": "access_decisions.principal_type access_decisions.method access_decisions.verb access_decisions.action access_decisions.resource_id " +
		"access_decisions.decided_kind access_decisions.decided_id access_decisions.policies access_decisions.bundle access_decisions.request_id access_policies.action " +
		"access_policy_versions.actor_type agent_actions.operation agent_actions.rows agent_actions.digest agent_actions.row_version agent_evaluations.digest approvals.phase_id " +
		"approvals.approvers attachments.media_type attachments.sha256 attachments.stored_as audit_entries.actor_type audit_entries.action audit_entries.resource_id audit_entries.request_id api_keys.prefix api_keys.last4 " +
		"auth_requests.scopes auth_requests.response_mode auth_requests.code_challenge auth_requests.prompt auth_requests.methods billing_accounts.parts billing_accounts.customer " +
		"billing_accounts.payment_method comments.mentioned executions.phase_id executions.parent_phase_id executions.parent_branch executions.consulted grants.scopes grants.methods idempotency_keys.caller_id incidents.phase_id " +
		"incidents.to_phase_id payments.customer payments.payment_method payments.reference payments.failure phase_visits.phase_id phase_visits.type phase_visits.transition phase_visits.branch " +
		"rate_counts.id rate_counts.day row_counts.kind row_counts.facet sequences.kind sessions.methods settings.id settings.value sign_ins.methods signing_keys.algorithm " +
		"sla_events.key tasks.phase_id webhook_subscriptions.disabled_reason",
}

// A new column that can hold text is erased, or stands here with the reason why not.
func TestEveryTextIsErasedOrStays(t *testing.T) {
	t.Parallel()
	listed := map[string]int{}
	for _, list := range []map[string]string{erased, stays} {
		for _, columns := range list {
			for _, name := range strings.Fields(columns) {
				listed[name]++
			}
		}
	}
	for _, table := range store.Tables {
		for _, c := range table.Columns {
			name := table.Name + "." + c.Name
			if !written(c) && listed[name] == 0 {
				continue
			}
			require.Equal(t, 1, listed[name], "%s: erase what a person writes there, or say here why it stays", name)
			delete(listed, name)
		}
	}
	require.Empty(t, listed, "there are no such columns")
}

// written reports whether a column can hold what people write: text that is no id, and JSON. An id has 40 characters at most.
func written(c *schema.Column) bool {
	return c.Type == field.TypeJSON || c.Type == field.TypeString && c.Size != 40 || slices.Contains([]string{"body"}, c.Name)
}
