package request_test

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	entity "atrium/ent/request"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
	"atrium/internal/platform/text"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow/definition"
)

// notInExpressions lists the columns that expressions of workflows and rules cannot read, with the reason: those that answers do
// not show either.
var notInExpressions = map[string]string{
	entity.FieldCompanyID:           "all are the company's own",
	entity.FieldPriorityRank:        "priority in the order of lists",
	entity.FieldResponseDueAt:       "part of sla",
	entity.FieldResolutionDueAt:     "part of sla",
	entity.FieldResponseDueOrder:    "responseDueAt in the order of lists",
	entity.FieldResolutionDueOrder:  "resolutionDueAt in the order of lists",
	entity.FieldSLAState:            "part of sla",
	entity.FieldSLANextAt:           "the sweep's own",
	entity.FieldSatisfactionAskedAt: "whether the requester is asked",
	entity.FieldSatisfactionAt:      "until when the rating may be changed",
}

// A new column of requests must be readable by expressions or be listed here.
func TestEveryColumnIsReadByExpressionsOrNot(t *testing.T) {
	t.Parallel()
	variables, err := request.Variables(&ent.Request{})
	require.NoError(t, err)
	for _, column := range entity.Columns {
		_, read := variables[text.Camel(column)]
		_, not := notInExpressions[column]
		require.NotEqual(t, read, not, "%s: describe it in ent/schema, or say here why not", column)
	}
}

// What expressions can name of a request is filled where the request has it, and nothing else is filled: a field that is declared
// and always null takes the wrong branch in silence.
func TestEveryDeclaredFieldIsFilled(t *testing.T) {
	t.Parallel()
	one, now := "x", time.Now()
	variables, err := request.Variables(&ent.Request{
		ID: one, ServiceID: one, OfferingID: one, Title: one, Description: one, Status: entity.StatusPENDING, Priority: entity.PriorityLOW,
		Fields: json.RawMessage(`{"a":1}`), Tags: map[string]string{"a": one}, CreatedBy: one, RequesterID: one, Format: entity.FormatPlain, AssigneeID: &one, TeamID: &one, ExecutionID: &one,
		CreatedAt: now, UpdatedAt: now, FirstResponseAt: &now, AcceptedAt: &now, MergedAt: &now, CompletedAt: &now, CancelledAt: &now, Number: 1, RoutingRuleID: &one, SnoozedUntil: &now, DeclineReason: &one, Satisfaction: new(5), SatisfactionComment: &one,
		SLAState: new(entity.SLAStateON_TRACK), ResponseDueAt: &now, ResolutionDueAt: &now,
	})
	require.NoError(t, err)
	standing, ok := variables["sla"].(map[string]any)
	require.True(t, ok)
	fields, ofSLA := definition.RequestFields()
	for _, c := range []struct {
		declared []string
		filled   map[string]any
	}{{fields, variables}, {ofSLA, standing}} {
		require.ElementsMatch(t, c.declared, slices.Collect(maps.Keys(c.filled)))
		for name, value := range c.filled {
			require.NotNil(t, value, name)
		}
	}
}

// Answers that were sent as null are none, as the API shows them.
func TestNoAnswersAreAnEmptyObject(t *testing.T) {
	t.Parallel()
	for _, sent := range []string{"", "null", "{}"} {
		variables, err := request.Variables(&ent.Request{Fields: json.RawMessage(sent)})
		require.NoError(t, err)
		require.Equal(t, map[string]any{}, variables["fields"], "%q", sent)
		require.Nil(t, variables["number"], "it is not filed yet")
	}
}

// After an erasure nothing remains of what people wrote: only ids remain in the texts and documents of a request.
func TestErasureTakesWhatPeopleWrote(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		service := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		offering := testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: service.ID}, Name: "Laptop"})
		before := testkit.Run(t, w, ctx, request.Create, request.CreateInput{
			ServiceID: service.ID, OfferingID: offering.ID, Title: "A laptop", Description: new("for Ana"),
			Fields: strictjson.Object{"for": "Ana"}, Tags: map[string]string{"for": "Ana"},
		})
		before = testkit.Run(t, w, ctx, request.Decline, request.DeclineInput{ByID: op.ByID{ID: before.ID}, Reason: "Ana has left"})
		require.NoError(t, w.Engine.Work(t.Context(), w.A.Company.ID, "test", func(ctx context.Context, tx *op.Tx) (err error) {
			before, err = tx.Request.UpdateOneID(before.ID).SetSatisfactionComment("Ana was great").Save(ctx)
			return err
		}))
		require.NoError(t, w.Engine.Work(t.Context(), w.A.Company.ID, "erasure", func(ctx context.Context, tx *op.Tx) error {
			return request.Erase(ctx, tx, "erased", before.ID)
		}))
		after, err := w.Store.Reader().Request.Get(ctx, before.ID)
		require.NoError(t, err)
		was, is := reflect.ValueOf(*before), reflect.ValueOf(*after)
		for i := range was.NumField() {
			name := was.Type().Field(i).Name
			if !was.Type().Field(i).IsExported() || strings.HasSuffix(name, "ID") || name == "CreatedBy" {
				continue
			}
			switch wrote := was.Field(i).Interface().(type) {
			case string, *string, json.RawMessage, map[string]string:
				require.NotEmpty(t, wrote, "%s: this test fills what people write", name)
				require.NotEqual(t, wrote, is.Field(i).Interface(), "%s: request.Erase takes what people wrote", name)
			}
		}
	})
}
