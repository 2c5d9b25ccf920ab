package runs

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/internal/platform/text"
)

// noPlanRests lists the columns on which no plan depends, with the reason.
var noPlanRests = map[string]string{
	request.FieldID:                  "never changes",
	request.FieldCompanyID:           "never changes",
	request.FieldNumber:              "never changes",
	request.FieldCreatedAt:           "never changes",
	request.FieldUpdatedAt:           "every change moves it",
	request.FieldCreatedBy:           "never changes",
	request.FieldRequesterID:         "never changes",
	request.FieldFormat:              "follows the description",
	request.FieldServiceID:           "follows the offering",
	request.FieldExecutionID:         "follows the offering",
	request.FieldPriorityRank:        "follows the priority",
	request.FieldRoutingRuleID:       "told with the team that it gave",
	request.FieldAcceptedAt:          "follows the status",
	request.FieldFirstResponseAt:     "the clock's",
	request.FieldMergedAt:            "follows the status",
	request.FieldCompletedAt:         "follows the status",
	request.FieldReopenCount:         "follows the status",
	request.FieldCancelledAt:         "follows the status",
	request.FieldDeclineReason:       "follows the status",
	request.FieldSatisfaction:        "what the requester thinks of it afterwards",
	request.FieldSatisfactionComment: "what the requester thinks of it afterwards",
	request.FieldSatisfactionAskedAt: "what the requester thinks of it afterwards",
	request.FieldSatisfactionAt:      "what the requester thinks of it afterwards",
	request.FieldResponseDueAt:       "the clock's",
	request.FieldResolutionDueAt:     "the clock's",
	request.FieldResponseDueOrder:    "the clock's",
	request.FieldResolutionDueOrder:  "the clock's",
	request.FieldSLAState:            "the clock's",
	request.FieldSLANextAt:           "the clock's",
}

// Every column of requests either makes plans stale or is listed as one that does not.
func TestEveryColumnMakesPlansStaleOrNot(t *testing.T) {
	t.Parallel()
	blank, err := RequestVersion(&ent.Request{})
	require.NoError(t, err)
	now, one := time.Now(), "x"
	values := map[reflect.Type]any{
		reflect.TypeFor[string](): one, reflect.TypeFor[*string](): &one, reflect.TypeFor[bool](): true, reflect.TypeFor[*time.Time](): &now,
		reflect.TypeFor[json.RawMessage](): json.RawMessage(`{"a":1}`), reflect.TypeFor[map[string]string](): map[string]string{"a": "b"},
	}
	for _, column := range request.Columns {
		r := &ent.Request{}
		v := reflect.ValueOf(r).Elem()
		f := v.FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, text.Camel(column)) })
		require.True(t, f.IsValid(), column)
		if f.Kind() == reflect.String {
			f.SetString(one)
		} else if value, ok := values[f.Type()]; ok {
			f.Set(reflect.ValueOf(value))
		} else {
			require.Contains(t, noPlanRests, column)
			continue
		}
		version, err := RequestVersion(r)
		require.NoError(t, err)
		_, not := noPlanRests[column]
		require.NotEqual(t, version != blank, not, "%s: add it to requestVersion, or say here why not", column)
	}
}
