package schema_test

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentaction"
	"atrium/ent/agentevaluation"
	"atrium/ent/agentrun"
	"atrium/ent/agentturn"
	"atrium/ent/agentversion"
	"atrium/ent/apikey"
	"atrium/ent/approval"
	"atrium/ent/attachment"
	"atrium/ent/comment"
	"atrium/ent/consent"
	"atrium/ent/event"
	"atrium/ent/execution"
	"atrium/ent/externalidentity"
	"atrium/ent/grant"
	"atrium/ent/inboundcall"
	"atrium/ent/inboundmail"
	"atrium/ent/inboundwebhook"
	"atrium/ent/incident"
	"atrium/ent/mailbox"
	"atrium/ent/notification"
	"atrium/ent/offering"
	"atrium/ent/organization"
	"atrium/ent/phasevisit"
	"atrium/ent/refreshtoken"
	"atrium/ent/reportsubscription"
	"atrium/ent/request"
	"atrium/ent/requestlink"
	"atrium/ent/routingrule"
	"atrium/ent/savedreply"
	"atrium/ent/savedview"
	"atrium/ent/schedule"
	"atrium/ent/schedulerun"
	guard "atrium/ent/schema"
	"atrium/ent/service"
	"atrium/ent/session"
	"atrium/ent/task"
	"atrium/ent/team"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/ent/watcher"
	"atrium/ent/webhookdelivery"
	"atrium/ent/webhooksubscription"
	"atrium/ent/workflowversion"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// edge is one entry of ent.EdgeTables: what an edge setter of an entity refers to.
type edge struct{ entity, name, target string }

func edges(w *testkit.World) []edge {
	byTable := map[string]string{}
	for entity := range clients(w.Store.Reader()) {
		for _, t := range store.Tables {
			if strings.EqualFold(strings.ReplaceAll(t.Name, "_", ""), plural(entity)) {
				byTable[t.Name] = entity
			}
		}
	}
	var out []edge
	for key, table := range ent.EdgeTables {
		entity, name, _ := strings.Cut(key, ".")
		out = append(out, edge{entity, name, byTable[table]})
	}
	slices.SortFunc(out, func(a, b edge) int { return strings.Compare(a.entity+a.name, b.entity+b.name) })
	return out
}

func plural(entity string) string {
	if stem, ok := strings.CutSuffix(entity, "y"); ok && !strings.HasSuffix(entity, "ey") {
		return stem + "ies"
	}
	if strings.HasSuffix(entity, "x") {
		return entity + "es"
	}
	return entity + "s"
}

func pascal(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// setter returns the method of a builder that sets the edge by id; invalid when it is immutable there.
func (e edge) setter(builder reflect.Value) reflect.Value {
	if m := builder.MethodByName("Set" + pascal(e.name) + "ID"); m.IsValid() {
		return m
	}
	return builder.MethodByName("Add" + pascal(strings.TrimSuffix(strings.TrimSuffix(e.name, "s"), "ren")) + "IDs")
}

// Creating or updating a row of A with an edge to a row of B is refused, whether by the id's setter or by adding the
// row to the other side.
func TestEdgesToAnotherCompanyAreRefused(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := twoCompanies(t, w)
		for _, e := range edges(w) {
			t.Run(e.entity+"."+e.name, func(t *testing.T) {
				t.Parallel()
				require.NotEmpty(t, e.target, "no entity behind the edge's table")
				for _, bID := range []string{c.b.id(e.target), "nothing_of_this_id"} {
					err := try(w, c.asA, func(ctx context.Context, tx *store.Tx) error {
						b := c.create(tx.Client, e.entity, c.a)
						set := e.setter(b)
						if !set.IsValid() {
							return fmt.Errorf("no setter for %v on %s", e, b.Type())
						}
						set.Call([]reflect.Value{reflect.ValueOf(bID)})
						_, err := save(ctx, b)
						return err
					})
					require.ErrorIs(t, err, guard.ErrOtherCompany, "create")
					for _, method := range []string{"UpdateOneID", "Update"} {
						err := try(w, c.asA, func(ctx context.Context, tx *store.Tx) error {
							client := clients(tx.Client)[e.entity]
							var u reflect.Value
							if method == "Update" {
								u = whereID(call(client, method)[0], c.a[e.entity])
							} else {
								u = call(client, method, c.a[e.entity])[0]
							}
							set := e.setter(u)
							if !set.IsValid() {
								return guard.ErrOtherCompany // immutable: there is nothing to refuse
							}
							set.Call([]reflect.Value{reflect.ValueOf(bID)})
							_, err := save(ctx, u)
							return err
						})
						require.ErrorIs(t, err, guard.ErrOtherCompany, method)
					}
				}
			})
		}
	})
}

// A row that was seen in the transaction needs no second look; one of B that the system saw there does not count.
func TestWhatTheSystemSawIsNotTheCallers(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := twoCompanies(t, w)
		err := try(w, c.asA, func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.Team.Get(ctx, c.a.id("Team")); err != nil {
				return err
			}
			return tx.Service.UpdateOneID(c.a.id("Service")).SetOwnerTeamID(c.a.id("Team")).Exec(ctx)
		})
		require.NoError(t, err)
		err = try(w, c.asA, func(ctx context.Context, tx *store.Tx) error {
			err := tx.AsSystem(ctx, "test", func(ctx context.Context) error {
				_, err := tx.Team.Get(ctx, c.b.id("Team"))
				return err
			})
			if err != nil {
				return err
			}
			return tx.Service.UpdateOneID(c.a.id("Service")).SetOwnerTeamID(c.b.id("Team")).Exec(ctx)
		})
		require.ErrorIs(t, err, guard.ErrOtherCompany)
	})
}

// hasWith has a HasXWith query for every edge, counting the entity's rows whose neighbour has the id.
var hasWith = map[string]func(ctx context.Context, db *ent.Client, id string) (int, error){
	"Agent.owner": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Agent.Query().Where(agent.HasOwnerWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Agent.model_connection": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Agent.Query().Where(agent.HasModelConnectionWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"AgentEvaluation.agent": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.AgentEvaluation.Query().Where(agentevaluation.HasAgentWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"AgentTurn.run": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.AgentTurn.Query().Where(agentturn.HasRunWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"AgentVersion.agent": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.AgentVersion.Query().Where(agentversion.HasAgentWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"AgentRun.agent": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.AgentRun.Query().Where(agentrun.HasAgentWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"AgentRun.task": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.AgentRun.Query().Where(agentrun.HasTaskWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"APIKey.agent": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.APIKey.Query().Where(apikey.HasAgentWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"AgentRun.request": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.AgentRun.Query().Where(agentrun.HasRequestWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"AgentAction.run": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.AgentAction.Query().Where(agentaction.HasRunWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"AgentAction.request": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.AgentAction.Query().Where(agentaction.HasRequestWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"APIKey.user": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.APIKey.Query().Where(apikey.HasUserWith(user.ID(id))).Count(ctx)
	},
	"APIKey.service_account": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.APIKey.Query().Where(apikey.HasServiceAccountWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Consent.user": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Consent.Query().Where(consent.HasUserWith(user.ID(id))).Count(ctx)
	},
	"Consent.client": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Consent.Query().Where(consent.HasClientWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"ExternalIdentity.user": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.ExternalIdentity.Query().Where(externalidentity.HasUserWith(user.ID(id))).Count(ctx)
	},
	"Grant.user": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Grant.Query().Where(grant.HasUserWith(user.ID(id))).Count(ctx)
	},
	"RefreshToken.grant": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.RefreshToken.Query().Where(refreshtoken.HasGrantWith(grant.ID(id))).Count(ctx)
	},
	"Session.user": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Session.Query().Where(session.HasUserWith(user.ID(id))).Count(ctx)
	},
	"Offering.service": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Offering.Query().Where(offering.HasServiceWith(service.ID(id))).Count(ctx)
	},
	"Offering.workflow": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Offering.Query().Where(offering.HasWorkflowWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"WorkflowVersion.workflow": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.WorkflowVersion.Query().Where(workflowversion.HasWorkflowWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Offering.calendar": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Offering.Query().Where(offering.HasCalendarWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Organization.parent": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Organization.Query().Where(organization.HasParentWith(organization.ID(id))).Count(ctx)
	},
	"Organization.children": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Organization.Query().Where(organization.HasChildrenWith(organization.ID(id))).Count(ctx)
	},
	"Approval.execution": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Approval.Query().Where(approval.HasExecutionWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Approval.request": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Approval.Query().Where(approval.HasRequestWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Execution.workflow": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Execution.Query().Where(execution.HasWorkflowWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Execution.request": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Execution.Query().Where(execution.HasRequestWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Execution.visits": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Execution.Query().Where(execution.HasVisitsWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"InboundCall.webhook": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.InboundCall.Query().Where(inboundcall.HasWebhookWith(inboundwebhook.ID(id))).Count(ctx)
	},
	"InboundWebhook.offering": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.InboundWebhook.Query().Where(inboundwebhook.HasOfferingWith(offering.ID(id))).Count(ctx)
	},
	"InboundWebhook.workflow": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.InboundWebhook.Query().Where(inboundwebhook.HasWorkflowWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Schedule.workflow": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Schedule.Query().Where(schedule.HasWorkflowWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Schedule.offering": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Schedule.Query().Where(schedule.HasOfferingWith(offering.ID(id))).Count(ctx)
	},
	"Schedule.calendar": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Schedule.Query().Where(schedule.HasCalendarWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"ScheduleRun.schedule": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.ScheduleRun.Query().Where(schedulerun.HasScheduleWith(schedule.ID(id))).Count(ctx)
	},
	"Incident.execution": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Incident.Query().Where(incident.HasExecutionWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Notification.request": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Notification.Query().Where(notification.HasRequestWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Notification.user": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Notification.Query().Where(notification.HasUserWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Attachment.request": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Attachment.Query().Where(attachment.HasRequestWith(request.ID(id))).Count(ctx)
	},
	"Attachment.comment": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Attachment.Query().Where(attachment.HasCommentWith(comment.ID(id))).Count(ctx)
	},
	"Mailbox.offering": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Mailbox.Query().Where(mailbox.HasOfferingWith(offering.ID(id))).Count(ctx)
	},
	"Mailbox.team": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Mailbox.Query().Where(mailbox.HasTeamWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"InboundMail.mailbox": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.InboundMail.Query().Where(inboundmail.HasMailboxWith(mailbox.ID(id))).Count(ctx)
	},
	"RequestLink.from": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.RequestLink.Query().Where(requestlink.HasFromWith(request.ID(id))).Count(ctx)
	},
	"RequestLink.to": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.RequestLink.Query().Where(requestlink.HasToWith(request.ID(id))).Count(ctx)
	},
	"SavedReply.user": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.SavedReply.Query().Where(savedreply.HasUserWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"SavedReply.team": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.SavedReply.Query().Where(savedreply.HasTeamWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"ReportSubscription.user": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.ReportSubscription.Query().Where(reportsubscription.HasUserWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"SavedView.user": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.SavedView.Query().Where(savedview.HasUserWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"SavedView.team": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.SavedView.Query().Where(savedview.HasTeamWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Comment.request": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Comment.Query().Where(comment.HasRequestWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"PhaseVisit.execution": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.PhaseVisit.Query().Where(phasevisit.HasExecutionWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Task.execution": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Task.Query().Where(task.HasExecutionWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Task.request": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Task.Query().Where(task.HasRequestWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Task.assignee": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Task.Query().Where(task.HasAssigneeWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Task.team": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Task.Query().Where(task.HasTeamWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Task.agent": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Task.Query().Where(task.HasAgentWith(entsql.FieldEQ("id", id))).Count(ctx)
	},
	"Request.service": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Request.Query().Where(request.HasServiceWith(service.ID(id))).Count(ctx)
	},
	"Request.offering": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Request.Query().Where(request.HasOfferingWith(offering.ID(id))).Count(ctx)
	},
	"Request.assignee": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Request.Query().Where(request.HasAssigneeWith(user.ID(id))).Count(ctx)
	},
	"RoutingRule.team": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.RoutingRule.Query().Where(routingrule.HasTeamWith(team.ID(id))).Count(ctx)
	},
	"Request.team": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Request.Query().Where(request.HasTeamWith(team.ID(id))).Count(ctx)
	},
	"Service.owner_team": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Service.Query().Where(service.HasOwnerTeamWith(team.ID(id))).Count(ctx)
	},
	"Service.organization": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Service.Query().Where(service.HasOrganizationWith(organization.ID(id))).Count(ctx)
	},
	"Service.offerings": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Service.Query().Where(service.HasOfferingsWith(offering.ID(id))).Count(ctx)
	},
	"Team.organization": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Team.Query().Where(team.HasOrganizationWith(organization.ID(id))).Count(ctx)
	},
	"Team.members": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Team.Query().Where(team.HasMembersWith(teammember.ID(id))).Count(ctx)
	},
	"TeamMember.team": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.TeamMember.Query().Where(teammember.HasTeamWith(team.ID(id))).Count(ctx)
	},
	"TeamMember.user": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.TeamMember.Query().Where(teammember.HasUserWith(user.ID(id))).Count(ctx)
	},
	"Watcher.request": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Watcher.Query().Where(watcher.HasRequestWith(request.ID(id))).Count(ctx)
	},
	"Watcher.user": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.Watcher.Query().Where(watcher.HasUserWith(user.ID(id))).Count(ctx)
	},
	"WebhookDelivery.subscription": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.WebhookDelivery.Query().Where(webhookdelivery.HasSubscriptionWith(webhooksubscription.ID(id))).Count(ctx)
	},
	"WebhookDelivery.source": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.WebhookDelivery.Query().Where(webhookdelivery.HasSourceWith(event.ID(id))).Count(ctx)
	},
	"User.memberships": func(ctx context.Context, db *ent.Client, id string) (int, error) {
		return db.User.Query().Where(user.HasMembershipsWith(teammember.ID(id))).Count(ctx)
	},
}

// A HasXWith predicate is no query of its own, so nothing narrows it: what keeps it inside the company is that no
// reference leaves it. A guess at a row of B finds nothing, one at a row of A does.
func TestHasWithCannotLeak(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := twoCompanies(t, w)
		for _, e := range edges(w) {
			has, ok := hasWith[e.entity+"."+e.name]
			require.True(t, ok, "the new edge %s.%s needs a query in hasWith", e.entity, e.name)
			for from, ctx := range map[string]context.Context{"A": c.asA, "B": c.asB} {
				own, other := c.a, c.b
				if from == "B" {
					own, other = c.b, c.a
				}
				n, err := has(ctx, w.Store.Reader(), other.id(e.target))
				require.NoError(t, err)
				require.Zero(t, n, "%v: %s learns of a row of the other company", e, from)
				n, err = has(ctx, w.Store.Reader(), own.id(e.target))
				require.NoError(t, err)
				require.Positive(t, n, "%v: %s does not find its own", e, from)
			}
		}
	})
}

// Even when a reference to B's row has got into a row of A, with the database's guards taken away, neither eager
// loading nor an edge query shows B's row.
func TestForeignReferencesShowNothing(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := twoCompanies(t, w)
		corrupt(t, c)
		for _, e := range edges(w) {
			client := clients(w.Store.Reader())[e.entity]
			out := call(call(whereID(call(client, "Query")[0], c.a[e.entity]), "With"+pascal(e.name))[0], "All", c.asA)
			require.NoError(t, asError(out[1]), "%v", e)
			require.Equal(t, 1, out[0].Len())
			row := out[0].Index(0)
			loaded := row.Elem().FieldByName("Edges").FieldByName(pascal(e.name))
			if loaded.Kind() == reflect.Pointer {
				require.True(t, loaded.IsNil(), "%v shows a row of B", e)
			} else {
				for i := range loaded.Len() {
					require.Equal(t, c.A.Company.ID, loaded.Index(i).Elem().FieldByName("CompanyID").String(), "%v shows a row of B", e)
				}
			}
			q := call(client, "Query"+pascal(e.name), row)[0]
			out = call(whereID(q, c.b[e.target]), "Count", c.asA)
			require.NoError(t, asError(out[1]))
			require.Zero(t, out[0].Int(), "%v", e)
		}
	})
}

// corrupt points every reference of A's seeded rows at B's, behind the back of every guard.
func corrupt(t *testing.T, c *companies) {
	t.Helper()
	var exec func(statement string, args ...any) error
	if c.Store.Dialect() == dialect.Postgres {
		conn, err := pgx.ConnectConfig(t.Context(), c.Store.Pool().Config().ConnConfig)
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close(t.Context())) }()
		exec = func(s string, args ...any) error { _, err := conn.Exec(t.Context(), s, args...); return err }
		require.NoError(t, exec("SELECT set_config('app.company_id', '*', false)"))
		require.NoError(t, exec("DROP TRIGGER organizations_parent ON organizations"))
	} else {
		var db *sql.DB
		db, err := store.OpenSQLiteFile(c.Store.Path())
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		exec = func(s string, args ...any) error { _, err := db.ExecContext(t.Context(), s, args...); return err }
		require.NoError(t, exec("PRAGMA foreign_keys = OFF"))
		require.NoError(t, exec("DROP TRIGGER organizations_parent_update"))
	}
	for _, table := range store.Tables {
		for _, fk := range table.ForeignKeys {
			entity, target := entityOf(c, table), entityOf(c, fk.RefTable)
			col := fk.Columns[len(fk.Columns)-1].Name
			if col == "company_id" || col == "account_id" {
				continue
			}
			mark := "?"
			if c.Store.Dialect() == dialect.Postgres {
				require.NoError(t, exec(fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s", table.Name, fk.Symbol)))
				mark = "$"
			}
			require.NoError(t, exec(fmt.Sprintf("UPDATE %s SET %s = %s WHERE id = %s", table.Name, col, place(mark, 1), place(mark, 2)), c.b[target], c.a[entity]))
		}
	}
}

func place(mark string, n int) string {
	if mark == "$" {
		return fmt.Sprintf("$%d", n)
	}
	return mark
}

func entityOf(c *companies, table *schema.Table) string {
	if table.Name == "audit_leaves" { // the one irregular plural
		return "AuditLeaf"
	}
	for entity := range clients(c.Store.Reader()) {
		if strings.EqualFold(strings.ReplaceAll(table.Name, "_", ""), plural(entity)) {
			return entity
		}
	}
	panic("no entity of the table " + table.Name)
}
