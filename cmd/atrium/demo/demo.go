package demo

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	entmailbox "atrium/ent/mailbox"
	"atrium/ent/offering"
	entrequest "atrium/ent/request"
	"atrium/ent/service"
	"atrium/ent/user"
	entworkflow "atrium/ent/workflow"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/request"
	"atrium/internal/notify/mailbox"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/workflow"
)

// Made is what a newcomer needs: the service and offering of a first request, and who else can sign in.
type Made struct {
	ServiceID  string   `json:"serviceId"`
	OfferingID string   `json:"offeringId"`
	People     []Person `json:"people"`
}

// orderDefinition is a small everyday process: triage, a decision, an approval, the work.
const orderDefinition = `{
  "phases": [
    {"id": "start", "type": "START", "name": "Request received"},
    {"id": "triage", "type": "PROCESS", "name": "Triage", "config": {"title": "Triage: ${request.title}", "dueMinutes": 60}},
    {"id": "costly", "type": "DECISION", "name": "Costly?", "config": {
      "rules": [{"when": "request.priority == 'URGENT'", "transition": "skip_approval"}], "default": "ask"}},
    {"id": "approve", "type": "APPROVAL", "name": "Approval", "config": {"approvers": [{"type": "user", "id": "%s"}], "mode": "any", "order": "parallel"}},
    {"id": "fulfil", "type": "PROCESS", "name": "Fulfil", "requestAction": "accept", "config": {"title": "Fulfil: ${request.title}"}},
    {"id": "declined", "type": "END", "name": "Declined", "requestAction": "cancel"},
    {"id": "done", "type": "END", "name": "Done", "requestAction": "complete"}
  ],
  "transitions": [
    {"from": "start", "name": "next", "to": "triage"},
    {"from": "triage", "name": "next", "to": "costly"},
    {"from": "costly", "name": "ask", "to": "approve"},
    {"from": "costly", "name": "skip_approval", "to": "fulfil"},
    {"from": "approve", "name": "approved", "to": "fulfil"},
    {"from": "approve", "name": "rejected", "to": "declined"},
    {"from": "fulfil", "name": "next", "to": "done"}
  ]
}`

// Fill creates in a new company three people, two services, eight offerings, five workflows, three teams, a mailbox, some requests, and an agent that has
// learned from them. It runs the operations that people use, as the company's first owner. Content that an interrupted earlier
// call created is found and kept.
func Fill(ctx context.Context, e *op.Engine, companyID string) (*Made, error) {
	sys := principal.System(ctx, "the demo company's owner acts only once found")
	owner, err := e.Store.Reader().User.Query().Where(user.CompanyID(companyID), user.RoleEQ(user.RoleOwner)).
		Order(user.ByCreatedAt(), user.ByID()).First(sys)
	if err != nil {
		return nil, fmt.Errorf("find the demo company's owner: %w", err)
	}
	d := &filling{engine: e, ctx: principal.With(ctx, &principal.Principal{
		CompanyID: companyID, Type: principal.TypeUser, ID: owner.ID, Name: owner.Name, Email: owner.Email,
		Role: principal.Owner, Scopes: principal.AllScopes, Method: principal.MethodLocal,
	})}
	lead := d.people(owner)
	order := d.workflow("Order with approval", fmt.Sprintf(orderDefinition, lead))
	d.publish(order)
	it := d.service("IT Support", "Hardware, accounts and help with both.")
	laptop := d.offering(it, catalog.CreateOfferingInput{
		Name: "New laptop", WorkflowID: &order,
		Form: &form.Definition{Fields: []form.Field{
			{Key: "model", Label: "Model", Type: form.Select, Required: true, Options: []string{"13 inch", "14 inch", "16 inch"}},
			{Key: "reason", Label: "Why do you need it?", Type: form.TextArea},
		}},
		SLA: &catalog.SLA{ResponseMinutes: new(60), ResolutionMinutes: new(2880), WarnAtPercent: op.SetTo(80)},
	})
	d.processes(it, owner.ID, lead)
	access := d.offering(it, catalog.CreateOfferingInput{Name: "Access to a system"})
	office := d.service("Office", "Desks, keys and everything around them.")
	desk := d.offering(office, catalog.CreateOfferingInput{Name: "Move a desk"})
	for _, r := range []request.CreateInput{
		{ServiceID: it, OfferingID: laptop, Title: "Laptop for the new colleague", Priority: new("HIGH"), Fields: map[string]any{"model": "14 inch"}},
		{ServiceID: it, OfferingID: access, Title: "Read access to the sales reports"},
		{ServiceID: office, OfferingID: desk, Title: "Two desks to the third floor", Priority: new("LOW")},
	} {
		d.request(r)
	}
	d.mailbox("help@demo.example", access)
	d.history(it)
	d.intake()
	if d.err != nil {
		return nil, fmt.Errorf("make the demo content: %w", d.err)
	}
	return &Made{ServiceID: it, OfferingID: laptop, People: slices.Clone(colleagues)}, nil
}

// filling creates rows one after another until one fails.
type filling struct {
	ctx    context.Context
	engine *op.Engine
	err    error
}

// once returns the id that find returns, or that create returns if find finds no row.
func (d *filling) once(find func(context.Context) (string, error), create func() (string, error)) (id string) {
	if d.err != nil {
		return ""
	}
	id, d.err = find(d.ctx)
	if ent.IsNotFound(d.err) {
		id, d.err = create()
	}
	return id
}

func (d *filling) workflow(name, definition string) string {
	return d.once(d.engine.Store.Reader().Workflow.Query().Where(entworkflow.Name(name)).OnlyID, func() (string, error) {
		in := workflow.CreateWorkflowInput{Name: name, Definition: workflow.NewDefinition([]byte(definition))}
		wf, _, err := op.Run(d.ctx, d.engine, workflow.CreateWorkflow, in, nil)
		if err != nil {
			return "", err
		}
		return wf.ID, nil
	})
}

// publish publishes the workflow's draft as a version, unless it is published.
func (d *filling) publish(id string) {
	if d.err == nil {
		_, _, d.err = op.Run(d.ctx, d.engine, workflow.PublishWorkflow, op.ByID{ID: id}, nil)
	}
}

func (d *filling) service(name, description string) string {
	return d.once(d.engine.Store.Reader().Service.Query().Where(service.Name(name)).OnlyID, func() (string, error) {
		s, _, err := op.Run(d.ctx, d.engine, catalog.CreateService, catalog.CreateServiceInput{Name: name, Description: &description}, nil)
		if err != nil {
			return "", err
		}
		return s.ID, nil
	})
}

func (d *filling) offering(serviceID string, in catalog.CreateOfferingInput) string {
	in.ID = serviceID
	return d.once(d.engine.Store.Reader().Offering.Query().Where(offering.Name(in.Name)).OnlyID, func() (string, error) {
		o, _, err := op.Run(d.ctx, d.engine, catalog.CreateOffering, in, nil)
		if err != nil {
			return "", err
		}
		return o.ID, nil
	})
}

// mailbox makes an address whose mail files requests, which `atrium mail deliver` brings.
func (d *filling) mailbox(address, offeringID string) {
	d.once(d.engine.Store.Reader().Mailbox.Query().Where(entmailbox.Address(address)).OnlyID, func() (string, error) {
		in := mailbox.CreateInput{Address: address, Kind: new("webhook"), OfferingID: offeringID, UnknownSenders: new("create")}
		m, _, err := op.Run(d.ctx, d.engine, mailbox.Create, in, nil)
		return m.ID, err
	})
}

func (d *filling) request(in request.CreateInput) {
	d.once(d.engine.Store.Reader().Request.Query().Where(entrequest.Title(in.Title)).OnlyID, func() (string, error) {
		r, _, err := op.Run(d.ctx, d.engine, request.Create, in, nil)
		if err != nil {
			return "", err
		}
		return r.ID, nil
	})
}
