package request

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/internal/desk/sla"
	"atrium/internal/platform/clock"
)

// Variables returns a request as the API shows it: the value of the variable request in expressions. Numbers in its fields are
// json.Number.
func Variables(r *ent.Request) (map[string]any, error) {
	fields, err := fieldsOf(r)
	if err != nil {
		return nil, err
	}
	tags := make(map[string]any, len(r.Tags))
	for k, v := range r.Tags {
		tags[k] = v
	}
	return map[string]any{
		"id": orNull(&r.ID), "serviceId": r.ServiceID, "offeringId": r.OfferingID, "title": r.Title, "description": orNull(&r.Description),
		"status": string(r.Status), "priority": string(r.Priority), "fields": fields, "tags": tags, "createdBy": r.CreatedBy,
		"assigneeId": orNull(r.AssigneeID), "teamId": orNull(r.TeamID), "executionId": orNull(r.ExecutionID),
		"createdAt": moment(&r.CreatedAt), "updatedAt": moment(&r.UpdatedAt),
		"acceptedAt": moment(r.AcceptedAt), "completedAt": moment(r.CompletedAt), "cancelledAt": moment(r.CancelledAt),
		"sla": standing(r),
	}, nil
}

// standing returns how a request stands against its service levels; nil when it has none.
func standing(r *ent.Request) any {
	s := sla.StatusOf(r.SLAState, r.ResponseDueAt, r.ResolutionDueAt)
	if s == nil {
		return nil
	}
	return map[string]any{"state": orNull(&s.State), "responseDueAt": moment(s.ResponseDueAt), "resolutionDueAt": moment(s.ResolutionDueAt)}
}

// fieldsOf decodes a request's answers to its form. Numbers are json.Number.
func fieldsOf(r *ent.Request) (map[string]any, error) {
	fields := map[string]any{}
	if len(r.Fields) == 0 {
		return fields, nil
	}
	d := json.NewDecoder(bytes.NewReader(r.Fields))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return nil, fmt.Errorf("read the request's fields: %w", err)
	}
	return fields, nil
}

func orNull(s *string) any {
	if s == nil || *s == "" {
		return nil
	}
	return *s
}

func moment(t *time.Time) any {
	if t == nil {
		return nil
	}
	return t.UTC().Format(clock.Format)
}
