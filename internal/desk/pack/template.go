package pack

import (
	"context"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"atrium/ent"
	"atrium/ent/service"
	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/text"
	"atrium/internal/workflow"
	"atrium/internal/workflow/definition"
)

// Template writes a service of the company as a pack: the service, its offerings with their forms and service levels, their workflows as
// published, and the calendars and teams that these name. People and agents are left out, with a comment in their place. Each thing is
// read by the ordinary operation, as the caller.
var Template = op.OnRow("servicetemplate.read", op.Spec{
	Resource: "ServiceTemplate", Action: op.Read, Scope: "services:read", Summary: "Write a service as a pack that others can install",
}, func(ctx context.Context, tx *op.Tx, id string) (*ent.Service, error) {
	s, err := tx.Service.Query().Where(service.ID(id)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, apperr.Missing("Service")
	}
	return s, err
}, template)

// Written is a service as a pack.
type Written struct {
	Source string
}

// draft is a template that is being written.
type draft struct {
	tx   *op.Tx
	ids  map[string]string // references by the rows' ids
	keys map[string]bool   // references that are taken
	docs []*draftDocument
}

func template(ctx context.Context, tx *op.Tx, s *ent.Service, _ op.ByID) (*Written, error) {
	d := &draft{tx: tx, ids: map[string]string{}, keys: map[string]bool{}}
	if err := d.service(ctx, s); err != nil {
		return nil, err
	}
	source, err := d.write(s)
	if err != nil {
		return nil, err
	}
	if _, err := read(source); err != nil {
		if apperr.Refuses(err) {
			return nil, apperr.New(apperr.Conflict, "The service is too large for a template. %s", apperr.Said(err))
		}
		return nil, err
	}
	return &Written{source}, nil
}

// named gives a row its reference; the first of a key has the key itself, further ones a number behind it.
func (d *draft) named(kind, key, id string) string {
	name := kind + "/" + key
	for n := 2; d.keys[name]; n++ {
		name = kind + "/" + key + "-" + strconv.Itoa(n)
	}
	d.ids[id], d.keys[name] = name, true
	return name
}

func (d *draft) service(ctx context.Context, s *ent.Service) error {
	doc := d.document(d.named("Service", s.Slug, s.ID))
	team, err := d.team(ctx, s.OwnerTeamID)
	if err != nil {
		return err
	}
	if s.OrganizationID != nil {
		doc.leaveOut("its organization")
	}
	in := catalog.CreateServiceInput{Name: s.Name, Description: orNone(s.Description), OwnerTeamID: team, Tags: s.Tags}
	if s.Status != service.DefaultStatus {
		in.Status = new(string(s.Status))
	}
	if err := doc.spec(in); err != nil {
		return err
	}
	for page := 1; ; page++ {
		list, err := op.RunIn(ctx, d.tx, catalog.ListOfferings, catalog.ListOfferingsInput{ByID: op.ByID{ID: s.ID}, Page: paging.Page{Number: page, Size: 100, Sort: "createdAt"}})
		if err != nil {
			return err
		}
		for _, o := range list.Rows {
			if err := d.offering(ctx, s, o); err != nil {
				return err
			}
		}
		if page >= list.Pages() {
			return nil
		}
	}
}

func (d *draft) offering(ctx context.Context, s *ent.Service, o *ent.Offering) (err error) {
	doc := d.document(d.named("Offering", o.Slug, o.ID))
	in := catalog.CreateOfferingInput{
		Name: o.Name, Description: orNone(o.Description), Form: o.Form, ReopenDays: new(o.ReopenDays), AskSatisfaction: new(o.AskSatisfaction), Tags: o.Tags,
	}
	if o.Status != "active" {
		in.Status = new(string(o.Status))
	}
	if in.WorkflowID, err = d.workflow(ctx, o.WorkflowID); err != nil {
		return err
	}
	if in.ReopenWorkflowID, err = d.workflow(ctx, o.ReopenWorkflowID); err != nil {
		return err
	}
	if in.SLA, err = d.levels(ctx, o); err != nil {
		return err
	}
	if err := doc.spec(in); err != nil {
		return err
	}
	doc.first("serviceId", d.ids[s.ID])
	return nil
}

// levels returns the service levels of an offering; nil for none.
func (d *draft) levels(ctx context.Context, o *ent.Offering) (*catalog.SLA, error) {
	if !catalog.HasSLA(o) {
		return nil, nil
	}
	calendar, err := d.calendar(ctx, o.CalendarID)
	if err != nil {
		return nil, err
	}
	out := &catalog.SLA{
		ResponseMinutes: o.ResponseMinutes, ResolutionMinutes: o.ResolutionMinutes, CalendarID: calendar, ByPriority: o.SLAByPriority,
		Escalations: slices.Clone(o.SLAEscalations),
	}
	if o.WarnAtPercent != nil {
		out.WarnAtPercent = op.SetTo(*o.WarnAtPercent)
	}
	for i, e := range out.Escalations {
		if out.Escalations[i].TeamID, err = d.team(ctx, e.TeamID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// team writes a team, and returns its reference; nil for none.
func (d *draft) team(ctx context.Context, id *string) (*string, error) {
	if id == nil {
		return nil, nil
	}
	if ref := d.ids[*id]; ref != "" {
		return &ref, nil
	}
	t, err := op.RunIn(ctx, d.tx, people.GetTeam, op.ByID{ID: *id})
	if err != nil {
		return nil, err
	}
	ref := d.named("Team", t.Slug, t.ID)
	doc := d.document(ref)
	if t.OrganizationID != nil {
		doc.leaveOut("its organization")
	}
	return &ref, doc.spec(people.CreateTeamInput{Name: t.Name, Description: orNone(t.Description)})
}

// calendar writes a calendar, and returns its reference; nil for none.
func (d *draft) calendar(ctx context.Context, id *string) (*string, error) {
	if id == nil {
		return nil, nil
	}
	if ref := d.ids[*id]; ref != "" {
		return &ref, nil
	}
	c, err := op.RunIn(ctx, d.tx, workflow.GetCalendar, op.ByID{ID: *id})
	if err != nil {
		return nil, err
	}
	ref := d.named("Calendar", text.Slug(c.Name, "calendar"), c.ID)
	in := workflow.CreateCalendarInput{Name: c.Name, TimeZone: &c.TimeZone, Holidays: c.Holidays}
	if in.WorkingHours, err = workflow.HoursOf(c); err != nil {
		return nil, err
	}
	exceptions, err := workflow.ExceptionsOf(c)
	if err != nil {
		return nil, err
	}
	for _, e := range exceptions {
		in.Exceptions = append(in.Exceptions, *e)
	}
	return &ref, d.document(ref).spec(in)
}

// workflow writes the published version of a workflow, and returns its reference; nil for none.
func (d *draft) workflow(ctx context.Context, id *string) (*string, error) {
	if id == nil {
		return nil, nil
	}
	if ref := d.ids[*id]; ref != "" {
		return &ref, nil
	}
	w, err := op.RunIn(ctx, d.tx, workflow.GetWorkflow, op.ByID{ID: *id})
	if err != nil {
		return nil, err
	}
	v, err := op.RunIn(ctx, d.tx, workflow.GetVersion, workflow.GetVersionInput{ByID: op.ByID{ID: w.ID}, Version: strconv.Itoa(w.Version)})
	if err != nil {
		return nil, err
	}
	ref := d.named("Workflow", w.Slug, w.ID)
	doc := d.document(ref)
	process, err := nodeOf(workflow.AsSent(v.Definition))
	if err != nil {
		return nil, err
	}
	p := parts{draft: d, doc: doc}
	if err := p.replace(ctx, process, "definition"); err != nil {
		return nil, err
	}
	if err := d.runs(ctx, doc, process); err != nil {
		return nil, err
	}
	if err := doc.spec(struct {
		Name        string  `json:"name"`
		Description *string `json:"description,omitempty"`
	}{w.Name, orNone(w.Description)}); err != nil {
		return nil, err
	}
	doc.last("definition", process)
	return &ref, nil
}

// runs returns conflict for a definition that cannot do without what was left out of it.
func (d *draft) runs(ctx context.Context, doc *draftDocument, process *yaml.Node) error {
	if len(doc.out) == 0 {
		return nil
	}
	return d.tx.Costly(ctx, func(ctx context.Context) error {
		w := writer{say: same, ref: same}
		w.node(process, verbatim)
		_, faults := definition.ParseWithin(ctx, w.Bytes())
		if len(faults) == 0 {
			return nil
		}
		return apperr.New(apperr.Conflict, "%s cannot do without the people whom a template leaves out. Give what they do to a team first. %s: %s", doc.name, faults[0].Field, faults[0].Message)
	})
}

func same(s string) string { return s }

func orNone(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// parts replaces the ids of a definition by references, and leaves people and agents out.
type parts struct {
	*draft
	doc *draftDocument
}
