package requestimport

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/service"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/identity/access"
)

// names are the rows that some rows of a table name, by what they are called there.
type names struct {
	services, teams map[string][]string        // ids
	offerings       map[string][]*ent.Offering // by id and by name
	people          map[string][]*ent.User     // by id, address and name
}

// find looks up, in a statement for each kind, what rows name, among what the caller sees.
func (p *plan) find(ctx context.Context, from, to int) error {
	cells := func(field, also string) []string {
		out := []string{also}
		for n := from; n < to; n++ {
			out = append(out, reading{p, p.table.rows[n], nil}.text(field))
		}
		slices.Sort(out)
		return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" })
	}
	ctx = p.tx.Filtered(ctx)
	p.names = names{map[string][]string{}, map[string][]string{}, map[string][]*ent.Offering{}, map[string][]*ent.User{}}
	called := cells(isService, p.settings.ServiceID)
	services, err := p.tx.Service.Query().Where(service.Or(service.IDIn(called...), service.NameIn(called...))).Limit(2 * maxNamed).All(ctx)
	if err != nil {
		return fmt.Errorf("look the services up: %w", err)
	}
	for _, s := range services {
		add(p.services, s.ID, s.ID, s.Name)
	}
	called = cells(isOffering, p.settings.OfferingID)
	offerings, err := p.tx.Offering.Query().Where(offering.Or(offering.IDIn(called...), offering.NameIn(called...))).Limit(2 * maxNamed).All(ctx)
	if err != nil {
		return fmt.Errorf("look the offerings up: %w", err)
	}
	for _, o := range offerings {
		add(p.offerings, o, o.ID, o.Name)
	}
	called = cells(isTeam, "")
	teams, err := p.tx.Team.Query().Where(team.Or(team.IDIn(called...), team.NameIn(called...))).Limit(2 * maxNamed).All(ctx)
	if err != nil {
		return fmt.Errorf("look the teams up: %w", err)
	}
	for _, t := range teams {
		add(p.teams, t.ID, t.ID, t.Name)
	}
	called = append(cells(isRequester, ""), cells(isAssignee, "")...)
	addresses := make([]string, len(called))
	for i, s := range called {
		addresses[i] = strings.ToLower(s)
	}
	people, err := p.tx.User.Query().Where(user.Or(user.IDIn(called...), user.EmailIn(addresses...), user.NameIn(called...))).Limit(4 * maxNamed).All(ctx)
	if err != nil {
		return fmt.Errorf("look the people up: %w", err)
	}
	for _, u := range people {
		add(p.people, u, u.ID, u.Email, u.Name)
	}
	return nil
}

// maxNamed is how many rows of each kind the rows that are looked at together can name, if no two have one name.
const maxNamed = checkedAtOnce

// add keeps a row by all that it is called.
func add[Row any](to map[string][]Row, row Row, called ...string) {
	slices.Sort(called)
	for _, name := range slices.Compact(called) {
		to[name] = append(to[name], row)
	}
}

// target finds the service and the offering of a row.
func (r reading) target() {
	in := &r.item.in
	called := cmp.Or(r.text(isService), r.settings.ServiceID)
	services := r.services[called]
	if called != "" && len(services) != 1 {
		r.fault(isService, "must name one service, by its name or id")
		return
	}
	called = cmp.Or(r.text(isOffering), r.settings.OfferingID)
	var found []*ent.Offering
	for _, o := range r.offerings[called] {
		if len(services) == 0 || o.ServiceID == services[0] {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		r.fault(isOffering, "must name one offering of the service, by its name or id")
		return
	}
	r.item.offering, in.OfferingID, in.ServiceID = found[0], found[0].ID, found[0].ServiceID
}

// who finds the requester, the assignee and the team of a row.
func (r reading) who() {
	in := &r.item.in
	in.RequesterID = r.by
	if u := r.person(isRequester, tagRequester); u != nil {
		in.RequesterID = u.ID
	}
	if u := r.person(isAssignee, tagAssignee); u != nil {
		in.AssigneeID = &u.ID
		if access.Gone(u.Status) && (in.Status == "PENDING" || in.Status == "IN_PROGRESS") {
			r.fault(isAssignee, "is a user who was deactivated or erased")
		}
	}
	if called := r.text(isTeam); called != "" {
		if teams := r.teams[called]; len(teams) == 1 {
			in.TeamID = &teams[0]
		} else {
			r.fault(isTeam, "must name one team, by its name or id")
		}
	}
}

// person returns whom a cell names; nil for nobody. Somebody who is not there is a fault, or stays in a tag.
func (r reading) person(field, tag string) *ent.User {
	called := r.text(field)
	if called == "" {
		return nil
	}
	found := r.plan.people[called]
	if len(found) == 0 {
		found = r.plan.people[strings.ToLower(called)]
	}
	switch {
	case len(found) == 1:
		return found[0]
	case r.settings.UnknownPeople == keepAsTag:
		r.item.in.Tags[tag] = called
	case len(found) > 1:
		r.fault(field, "must name one user: give an address")
	default:
		r.fault(field, "must name a user of the company, by address, name or id")
	}
	return nil
}
