package demo

import (
	"context"
	"fmt"

	"atrium/ent"
	entagent "atrium/ent/agent"
	entrequest "atrium/ent/request"
	"atrium/internal/agent"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
)

// finished are completed requests by the team that handled them. The demo company's agent learns from them.
var finished = []struct {
	team, priority string
	titles         []string
}{
	{"Team/network", "HIGH", []string{
		"VPN does not connect from home", "The VPN drops every few minutes", "No internet on the third floor", "Wifi is slow in the meeting room",
		"VPN asks for a code that never comes", "Cannot reach the file server over the VPN", "Wifi password for a guest", "Video calls freeze on the wifi",
	}},
	{"Team/workplace", "MEDIUM", []string{
		"The laptop does not start", "Screen of the laptop stays black", "Keyboard types the wrong letters", "Printer on the second floor jams",
		"The docking station does not charge the laptop", "Mouse is broken", "Laptop is slow and its fan is loud", "A second screen for the desk",
	}},
	{"Team/accounts", "LOW", []string{
		"Forgot the password of the payroll system", "Account is locked after the holidays", "Password reset for the sales reports",
		"Login to the wiki fails", "New account for an intern", "Close the account of somebody who left", "Change the name on my account",
		"Single sign-on asks for my password every time",
	}},
}

// history creates the completed requests, in one transaction.
func (d *filling) history() {
	if d.err != nil {
		return
	}
	there, err := d.engine.Store.Reader().Request.Query().Where(entrequest.Title(finished[0].titles[0])).Exist(d.ctx)
	if d.err = err; there || err != nil {
		return
	}
	owner, _ := principal.From(d.ctx)
	d.err = d.engine.WorkAs(d.ctx, owner, func(ctx context.Context, tx *op.Tx) error {
		for _, f := range finished {
			for _, title := range f.titles {
				if err := deal(ctx, tx, d.ids["Service/it-service-desk"], d.ids["Offering/something-else"], title, f.priority, d.ids[f.team]); err != nil {
					return fmt.Errorf("deal with %q: %w", title, err)
				}
			}
		}
		return nil
	})
}

// deal creates a request and completes it.
func deal(ctx context.Context, tx *op.Tx, service, offering, title, priority, team string) error {
	r, err := op.RunIn(ctx, tx, request.Create, request.CreateInput{ServiceID: service, OfferingID: offering, Title: title, Priority: &priority, TeamID: &team})
	if err != nil {
		return err
	}
	for _, status := range []entrequest.Status{entrequest.StatusIN_PROGRESS, entrequest.StatusCOMPLETED} {
		if _, err := op.RunIn(ctx, tx, request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, Status: op.SetTo(string(status))}); err != nil {
			return err
		}
	}
	return nil
}

// intake publishes an agent that suggests how to route new requests.
func (d *filling) intake() {
	id := d.once(d.engine.Store.Reader().Agent.Query().Where(entagent.Name("Intake")).OnlyID, func() (string, error) {
		in := agent.CreateInput{Name: "Intake", Type: "QUEUE_INTAKE", Source: "MANAGED", Autonomy: "SUGGEST"}
		a, _, err := op.Run(d.ctx, d.engine, agent.Create, in, nil)
		if err != nil {
			return "", err
		}
		return a.ID, nil
	})
	if d.err != nil {
		return
	}
	var a *ent.Agent
	if a, d.err = d.engine.Store.Reader().Agent.Get(d.ctx, id); d.err == nil && a.Version == 0 {
		_, _, d.err = op.Run(d.ctx, d.engine, agent.Publish, op.ByID{ID: id}, nil)
	}
}
