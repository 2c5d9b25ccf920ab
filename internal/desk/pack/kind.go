package pack

import (
	"context"
	"encoding/json"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/routing"
	"atrium/internal/desk/savedreply"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/policy"
	"atrium/internal/webhook/inbound"
	"atrium/internal/workflow"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/schedule"
)

// kind is a kind of document.
type kind struct {
	name    string
	rank    int
	slugged bool     // the key is the slug; other rows are known by their names
	parent  string   // the field that stands in the path of the create operation; empty for none
	none    []string // fields of the operation that packs do not have
	zoned   bool     // without a time zone it has the company's

	// check names what is wrong with a body, whatever the company has.
	check func(ctx context.Context, body []byte) []apperr.Detail
	// create creates a row and returns its id.
	create func(ctx context.Context, tx *op.Tx, body []byte, parent string) (string, error)
}

// kinds are what a pack can make.
var kinds = map[string]*kind{}

// kindNames are their names, in the order in which a pack makes them: policies come last.
var kindNames = func() []string {
	all := []*kind{
		create("Team", people.CreateTeam, func(t *ent.Team) string { return t.ID }).bySlug().without("memberIds", "organizationId"),
		create("Calendar", workflow.CreateCalendar, func(c *ent.Calendar) string { return c.ID }).inZone(),
		create("Workflow", workflow.CreateWorkflow, func(w *ent.Workflow) string { return w.ID }).bySlug().checking(checkDefinition).then(publish),
		create("Service", catalog.CreateService, func(s *ent.Service) string { return s.ID }).bySlug().without("organizationId"),
		create("Offering", catalog.CreateOffering, func(o *ent.Offering) string { return o.ID }).bySlug().below("serviceId").checking(checkForm),
		create("RoutingRule", routing.Create, func(r *ent.RoutingRule) string { return r.ID }).checking(checkWhen),
		create("SavedReply", savedreply.Create, func(r *ent.SavedReply) string { return r.ID }),
		create("Schedule", schedule.Create, func(s *ent.Schedule) string { return s.ID }).inZone(),
		create("InboundWebhook", inbound.CreateWebhook, func(w inbound.Issued) string { return w.ID }).without("signingSecret", "verifySignature").checking(checkCalls),
		create("AccessPolicy", policy.Create, func(p *ent.AccessPolicy) string { return p.ID }),
	}
	names := make([]string, len(all))
	for i, k := range all {
		k.rank, names[i], kinds[k.name] = i, k.name, k
	}
	return names
}()

// create returns the kind of document that an operation makes a row of.
func create[In, Row any](name string, o *op.Operation[In, Row], id func(Row) string) *kind {
	decode := func(body []byte, parent string) (In, error) {
		return o.Decode(body, func(string) string { return parent }, nil)
	}
	return &kind{
		name: name,
		check: func(_ context.Context, body []byte) []apperr.Detail {
			if _, err := decode(body, "x"); err != nil {
				return apperr.From(err).Details
			}
			return nil
		},
		create: func(ctx context.Context, tx *op.Tx, body []byte, parent string) (string, error) {
			in, err := decode(body, parent)
			if err != nil {
				return "", err
			}
			row, err := op.RunIn(ctx, tx, o, in)
			if err != nil {
				return "", err
			}
			return id(row), nil
		},
	}
}

// bySlug makes the key of the document the slug of the row.
func (k *kind) bySlug() *kind {
	k.slugged = true
	return k.without("slug")
}

func (k *kind) without(fields ...string) *kind {
	k.none = append(k.none, fields...)
	return k
}

func (k *kind) inZone() *kind {
	k.zoned = true
	return k
}

func (k *kind) below(field string) *kind {
	k.parent = field
	return k
}

// checking adds what compiles parts of the body.
func (k *kind) checking(further func(ctx context.Context, body []byte) []apperr.Detail) *kind {
	first := k.check
	k.check = func(ctx context.Context, body []byte) []apperr.Detail {
		if faults := first(ctx, body); len(faults) > 0 {
			return faults
		}
		return further(ctx, body)
	}
	return k
}

// then adds what is done with a new row.
func (k *kind) then(further func(ctx context.Context, tx *op.Tx, id string) error) *kind {
	first := k.create
	k.create = func(ctx context.Context, tx *op.Tx, body []byte, parent string) (string, error) {
		id, err := first(ctx, tx, body, parent)
		if err != nil {
			return "", err
		}
		return id, further(ctx, tx, id)
	}
	return k
}

func publish(ctx context.Context, tx *op.Tx, id string) error {
	_, err := op.RunIn(ctx, tx, workflow.PublishWorkflow, op.ByID{ID: id})
	return err
}

func checkDefinition(ctx context.Context, body []byte) []apperr.Detail {
	var in struct {
		Definition json.RawMessage `json:"definition"`
	}
	_ = json.Unmarshal(body, &in) // it was decoded already
	_, faults := definition.ParseWithin(ctx, in.Definition)
	return faults
}

func checkForm(_ context.Context, body []byte) []apperr.Detail {
	var in struct {
		Form *form.Definition `json:"form"`
	}
	if err := json.Unmarshal(body, &in); err != nil || in.Form == nil {
		return nil // it was decoded already
	}
	return form.Check(*in.Form)
}

// checkCalls compiles what an inbound webhook reads of its calls.
func checkCalls(ctx context.Context, body []byte) (faults []apperr.Detail) {
	var in struct {
		When         *string         `json:"when"`
		FieldMapping json.RawMessage `json:"fieldMapping"`
	}
	_ = json.Unmarshal(body, &in) // it was decoded already
	if in.When != nil {
		_, faults = definition.ParseCallCondition(ctx, "when", *in.When)
	}
	if in.FieldMapping != nil && string(in.FieldMapping) != "null" {
		_, more := definition.ParseMapping(ctx, in.FieldMapping)
		faults = append(faults, more...)
	}
	return faults
}

func checkWhen(ctx context.Context, body []byte) []apperr.Detail {
	var in struct {
		When string `json:"when"`
	}
	_ = json.Unmarshal(body, &in) // it was decoded already
	_, faults := definition.ParseCondition(ctx, "when", in.When)
	return faults
}
