package demo

import (
	"context"
	_ "embed" // pack.yaml
	"fmt"
	"slices"

	"atrium/ent"
	entmailbox "atrium/ent/mailbox"
	entrequest "atrium/ent/request"
	"atrium/ent/user"
	"atrium/internal/desk/pack"
	"atrium/internal/desk/request"
	"atrium/internal/notify/mailbox"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
)

// Made is what a newcomer needs: the service and offering of a first request, and who else can sign in.
type Made struct {
	ServiceID  string   `json:"serviceId"`
	OfferingID string   `json:"offeringId"`
	People     []Person `json:"people"`
}

//go:embed pack.yaml
var own string

// Fill creates in a new company three people, what two starter packs and pack.yaml describe, a mailbox, some requests, and an agent that has learned from
// them. It runs the operations that people use, as the company's first owner. Content that an interrupted earlier call created is found
// and kept.
func Fill(ctx context.Context, e *op.Engine, companyID string) (*Made, error) {
	sys := principal.System(ctx, "the demo company's owner acts only once found")
	owner, err := e.Store.Reader().User.Query().Where(user.CompanyID(companyID), user.RoleEQ(user.RoleOwner)).
		Order(user.ByCreatedAt(), user.ByID()).First(sys)
	if err != nil {
		return nil, fmt.Errorf("find the demo company's owner: %w", err)
	}
	d := &filling{engine: e, ctx: as(ctx, owner), ids: map[string]string{}}
	mia := d.people(owner)
	// The demo's own pack comes before the one whose service it names.
	d.install(pack.Input{Pack: new("purchase-approval")})
	d.install(pack.Input{Source: &own})
	d.install(pack.Input{Pack: new("it-service-desk")})
	d.join(owner)
	it, access := d.ids["Service/it-service-desk"], d.ids["Offering/access-to-a-system"]
	d.request(mia, request.CreateInput{
		ServiceID: d.ids["Service/purchasing"], OfferingID: d.ids["Offering/buy-something"], Title: "Two desks for the third floor", Priority: new("LOW"),
		Fields: map[string]any{"what": "Two desks", "reason": "Two colleagues start next month.", "every": "Once", "amount": 900, "budget": "4711"},
	})
	d.request(owner, request.CreateInput{
		ServiceID: it, OfferingID: d.ids["Offering/new-laptop"], Title: "Laptop for the new colleague", Priority: new("HIGH"), Fields: map[string]any{"model": "14 inch"},
	})
	d.request(owner, request.CreateInput{ServiceID: it, OfferingID: access, Title: "Read access to the sales reports"})
	d.mailbox("help@demo.example", access)
	d.history()
	d.intake()
	if d.err != nil {
		return nil, fmt.Errorf("make the demo content: %w", d.err)
	}
	return &Made{ServiceID: it, OfferingID: d.ids["Offering/new-laptop"], People: slices.Clone(colleagues)}, nil
}

// as returns a context in which somebody of the company acts.
func as(ctx context.Context, u *ent.User) context.Context {
	return principal.With(ctx, &principal.Principal{
		CompanyID: u.CompanyID, Type: principal.TypeUser, ID: u.ID, Name: u.Name, Email: u.Email,
		Role: principal.Role(u.Role), Scopes: principal.AllScopes, Method: principal.MethodLocal,
	})
}

// filling creates rows one after another until one fails.
type filling struct {
	ctx    context.Context
	engine *op.Engine
	ids    map[string]string // of what the packs describe, such as Team/finance
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

// install makes what a pack describes, in English like the rest of the demo.
func (d *filling) install(in pack.Input) {
	if d.err != nil {
		return
	}
	in.Language = new("en")
	made, _, err := op.Run(d.ctx, d.engine, pack.Install, in, nil)
	if d.err = err; err != nil {
		return
	}
	for _, it := range made.Items {
		d.ids[it.Kind+"/"+it.Key] = *it.ID
	}
}

// mailbox makes an address whose mail files requests, which `atrium mail deliver` brings.
func (d *filling) mailbox(address, offeringID string) {
	d.once(d.engine.Store.Reader().Mailbox.Query().Where(entmailbox.Address(address)).OnlyID, func() (string, error) {
		in := mailbox.CreateInput{Address: address, Kind: new("webhook"), OfferingID: offeringID, UnknownSenders: new("create")}
		m, _, err := op.Run(d.ctx, d.engine, mailbox.Create, in, nil)
		return m.ID, err
	})
}

// request has somebody of the company file a request.
func (d *filling) request(by *ent.User, in request.CreateInput) {
	d.once(d.engine.Store.Reader().Request.Query().Where(entrequest.Title(in.Title)).OnlyID, func() (string, error) {
		r, _, err := op.Run(as(d.ctx, by), d.engine, request.Create, in, nil)
		if err != nil {
			return "", err
		}
		return r.ID, nil
	})
}
