package condition

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"atrium/ent/request"
	"atrium/internal/op"
)

// requestFields are the fields of a request that conditions compare. Rules and agents see requests that were just filed.
func requestFields(filed bool) []*Field {
	out := []*Field{
		{Expression: "request.title", Label: "Title", Type: Text},
		{Expression: "request.description", Label: "Description", Type: Text, Optional: true},
		{Expression: "request.priority", Label: "Priority", Type: Text, Values: named("LOW", "MEDIUM", "HIGH", "URGENT")},
		{Expression: "request.serviceId", Label: "Service", Type: Service},
		{Expression: "request.offeringId", Label: "Offering", Type: Offering},
		{Expression: "request.requesterId", Label: "Requester", Type: User},
		{Expression: "request.createdBy", Label: "Filed by", Type: User},
		{Expression: "request.teamId", Label: "Team", Type: Team, Optional: true},
		{Expression: "request.assigneeId", Label: "Assignee", Type: User, Optional: true},
	}
	if !filed {
		out = append(out,
			&Field{Expression: "request.status", Label: "Status", Type: Text, Values: named("PENDING", "IN_PROGRESS", "COMPLETED", "CANCELLED")},
			&Field{Expression: "request.waiting", Label: "Waiting for the requester", Type: Boolean},
			&Field{Expression: "request.number", Label: "Number", Type: Number},
			&Field{Expression: "request.createdAt", Label: "Filed at", Type: Time},
			&Field{Expression: "request.firstResponseAt", Label: "First response at", Type: Time, Optional: true},
			&Field{Expression: "request.acceptedAt", Label: "Accepted at", Type: Time, Optional: true},
			&Field{Expression: "request.reopenCount", Label: "Times reopened", Type: Number},
			&Field{Expression: "request.satisfaction", Label: "Satisfaction", Type: Number, Optional: true},
			&Field{Expression: "request.sla.state", Label: "Service level", Type: Text, Values: named("ON_TRACK", "WARNING", "BREACHED", "MET", "PAUSED")},
			&Field{Expression: "request.sla.responseDueAt", Label: "Response due", Type: Time, Optional: true},
			&Field{Expression: "request.sla.resolutionDueAt", Label: "Resolution due", Type: Time, Optional: true},
		)
	}
	for _, f := range out {
		f.Group = "Request"
	}
	return out
}

// maxTags is how many tags are listed.
const maxTags = 50

// tagFields are the tags of the newest requests that the caller may read, by their names.
func tagFields(ctx context.Context, tx *op.Tx) ([]*Field, error) {
	rows, err := newest(tx).Select(request.FieldID, request.FieldTags).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the tags of the last requests: %w", err)
	}
	names := map[string]bool{}
	for _, r := range rows {
		for name := range r.Tags {
			names[name] = true
		}
	}
	var out []*Field
	for _, name := range slices.Sorted(maps.Keys(names))[:min(len(names), maxTags)] {
		out = append(out, &Field{Expression: "request.tags" + member(name), Label: "Tag " + name, Group: "Request", Type: Text, Optional: true})
	}
	return out, nil
}

// named are the values of an enum, with labels such as In progress.
func named(values ...string) []Value {
	out := make([]Value, len(values))
	for i, v := range values {
		out[i] = Value{v, v[:1] + strings.ToLower(strings.ReplaceAll(v[1:], "_", " "))}
	}
	return out
}

// plainName is a name that can follow a dot in an expression.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reserved are CEL's words that cannot follow a dot.
var reserved = map[string]bool{"true": true, "false": true, "null": true, "in": true}

// member writes the access to a key: .model, or ["x-event"].
func member(key string) string {
	if plainName.MatchString(key) && !reserved[key] {
		return "." + key
	}
	return "[" + strconv.Quote(key) + "]"
}
