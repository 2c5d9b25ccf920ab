package requestimport

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/predicate"
	"atrium/ent/service"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/op/paging"
	"atrium/internal/platform/text"
)

// names are the rows that some rows of a table name.
type names struct {
	services  named[*ent.Service]
	offerings named[*ent.Offering]
	teams     named[*ent.Team]
	people    named[*ent.User]
}

// named are rows by what they are called, in any case and Unicode form.
type named[Row any] struct {
	of     func(Row) []string // its id, and what else it is called
	called map[string][]Row
}

// find returns the rows that are called so, or else those that are called so in another case or form.
func (n named[Row]) find(called string) []Row {
	if exact := n.exactly(called); len(exact) > 0 {
		return exact
	}
	return n.called[text.NameKey(called)]
}

func (n named[Row]) exactly(called string) (out []Row) {
	for _, row := range n.called[text.NameKey(called)] {
		if slices.Contains(n.of(row), called) {
			out = append(out, row)
		}
	}
	return out
}

// keep adds rows that are not there yet.
func (n named[Row]) keep(rows []Row) {
	for _, row := range rows {
		keys := n.of(row)
		id := keys[0]
		for i, s := range keys {
			keys[i] = text.NameKey(s)
		}
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			if !slices.ContainsFunc(n.called[key], func(other Row) bool { return n.of(other)[0] == id }) {
				n.called[key] = append(n.called[key], row)
			}
		}
	}
}

// look finds rows: by their index what is written as they are called, and only for what is not, by a scan in any case and form.
func look[Row any](called []string, of func(Row) []string, query func(called []string, folded bool) ([]Row, error)) (named[Row], error) {
	n := named[Row]{of, map[string][]Row{}}
	for _, folded := range []bool{false, true} {
		if len(called) == 0 {
			break
		}
		rows, err := query(called, folded)
		if err != nil {
			return n, err
		}
		n.keep(rows)
		called = slices.DeleteFunc(called, func(s string) bool { return len(n.exactly(s)) > 0 })
	}
	return n, nil
}

// find looks up, in a statement or two for each kind, what rows name, among what the caller sees.
func (p *plan) find(ctx context.Context, from, to int) error {
	cells := func(also string, fields ...string) []string {
		out := []string{also}
		for n := from; n < to; n++ {
			for _, field := range fields {
				out = append(out, reading{p, p.table.rows[n], nil}.text(field))
			}
		}
		slices.Sort(out)
		return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" })
	}
	ctx = p.tx.Filtered(ctx)
	var err error
	p.names.services, err = look(cells(p.settings.ServiceID, isService), func(s *ent.Service) []string { return []string{s.ID, s.Name} },
		func(called []string, folded bool) ([]*ent.Service, error) {
			where := service.Or(service.IDIn(called...), service.NameIn(called...))
			if folded {
				where = paging.FoldedIn[predicate.Service](service.FieldName, called)
			}
			return p.tx.Service.Query().Where(where).Limit(2 * maxNamed).All(ctx)
		})
	if err != nil {
		return fmt.Errorf("look the services up: %w", err)
	}
	p.names.offerings, err = look(cells(p.settings.OfferingID, isOffering), func(o *ent.Offering) []string { return []string{o.ID, o.Name} },
		func(called []string, folded bool) ([]*ent.Offering, error) {
			where := offering.Or(offering.IDIn(called...), offering.NameIn(called...))
			if folded {
				where = paging.FoldedIn[predicate.Offering](offering.FieldName, called)
			}
			return p.tx.Offering.Query().Where(where).Limit(2 * maxNamed).All(ctx)
		})
	if err != nil {
		return fmt.Errorf("look the offerings up: %w", err)
	}
	p.names.teams, err = look(cells("", isTeam), func(t *ent.Team) []string { return []string{t.ID, t.Name} },
		func(called []string, folded bool) ([]*ent.Team, error) {
			where := team.Or(team.IDIn(called...), team.NameIn(called...))
			if folded {
				where = paging.FoldedIn[predicate.Team](team.FieldName, called)
			}
			return p.tx.Team.Query().Where(where).Limit(2 * maxNamed).All(ctx)
		})
	if err != nil {
		return fmt.Errorf("look the teams up: %w", err)
	}
	called := cells("", isRequester, isAssignee)
	for i, s := range called {
		if address, ok := text.Email(s); ok {
			called[i] = address // as it is stored, so that the index of addresses finds it
		}
	}
	p.names.people, err = look(called, func(u *ent.User) []string { return []string{u.ID, u.Email, u.Name} },
		func(called []string, folded bool) ([]*ent.User, error) {
			where := user.Or(user.IDIn(called...), user.EmailIn(called...), user.NameIn(called...))
			if folded {
				where = user.Or(paging.FoldedIn[predicate.User](user.FieldName, called), paging.FoldedIn[predicate.User](user.FieldEmail, called))
			}
			return p.tx.User.Query().Where(where).Limit(4 * maxNamed).All(ctx)
		})
	if err != nil {
		return fmt.Errorf("look the people up: %w", err)
	}
	return nil
}

// maxNamed is how many rows of each kind the rows that are looked at together can name, if no two have one name.
const maxNamed = checkedAtOnce

// target finds the service and the offering of a row.
func (r reading) target() {
	in := &r.item.in
	called := cmp.Or(r.text(isService), r.settings.ServiceID)
	services := r.names.services.find(called)
	if called != "" && len(services) != 1 {
		r.fault(isService, "must name one service, by its name or id")
		return
	}
	called = cmp.Or(r.text(isOffering), r.settings.OfferingID)
	var found []*ent.Offering
	for _, o := range r.names.offerings.find(called) {
		if len(services) == 0 || o.ServiceID == services[0].ID {
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
		if teams := r.names.teams.find(called); len(teams) == 1 {
			in.TeamID = &teams[0].ID
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
	found := r.names.people.find(called)
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
