package pack

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/accesspolicy"
	"atrium/ent/calendar"
	"atrium/ent/inboundwebhook"
	"atrium/ent/offering"
	"atrium/ent/predicate"
	"atrium/ent/routingrule"
	"atrium/ent/savedreply"
	"atrium/ent/schedule"
	"atrium/ent/service"
	"atrium/ent/team"
	"atrium/ent/workflow"
	"atrium/internal/desk/audience"
	"atrium/internal/op"
	"atrium/internal/platform/text"
)

// state is what of some files the company has, as far as the caller sees it. Its keys are references; those of rows without slugs have
// the name in its place, and those of offerings the service's id besides.
type state map[string]string

// wanted are the slugs and names to look for, by kind.
type wanted map[string][]string

// state looks up what of the files is there already, in a statement for each kind.
func stateOf(ctx context.Context, tx *op.Tx, files ...*file) (state, error) {
	want := wanted{}
	for _, f := range files {
		want.add(f)
	}
	s := state{}
	for _, k := range kindNames {
		if len(want[k]) == 0 {
			continue
		}
		slices.Sort(want[k])
		if err := s.lookUp(ctx, tx, k, slices.Compact(want[k])); err != nil {
			return nil, fmt.Errorf("look for what is there of the kind %s: %w", k, err)
		}
	}
	return s, nil
}

func (w wanted) add(f *file) {
	for _, d := range f.documents {
		if d.kind.slugged {
			w[d.kind.name] = append(w[d.kind.name], d.key)
		} else {
			w[d.kind.name] = append(w[d.kind.name], f.names(d)...)
		}
		for _, ref := range d.refs {
			parts := referencePattern.FindStringSubmatch(ref.to)
			w[parts[1]] = append(w[parts[1]], parts[2])
		}
	}
}

// add notes a row; of equals the first counts.
func (s state) add(kind, key, id string) {
	if s[kind+"/"+key] == "" {
		s[kind+"/"+key] = id
	}
}

// lookUp looks for the rows of a kind.
func (s state) lookUp(ctx context.Context, tx *op.Tx, kind string, keys []string) error {
	switch kind {
	case "Team":
		rows, err := tx.Team.Query().Where(team.SlugIn(keys...)).All(ctx)
		return note(rows, err, func(t *ent.Team) { s.add(kind, t.Slug, t.ID) })
	case "Workflow":
		rows, err := tx.Workflow.Query().Where(workflow.SlugIn(keys...)).All(ctx)
		return note(rows, err, func(w *ent.Workflow) { s.add(kind, w.Slug, w.ID) })
	case "Service":
		rows, err := tx.Service.Query().Where(service.SlugIn(keys...)).All(ctx)
		return note(rows, err, func(v *ent.Service) { s.add(kind, v.Slug, v.ID) })
	case "Offering":
		rows, err := tx.Offering.Query().Where(offering.SlugIn(keys...)).Order(offering.ByCreatedAt(), offering.ByID()).All(ctx)
		return note(rows, err, func(o *ent.Offering) {
			s.add(kind, o.ServiceID+"/"+o.Slug, o.ID)
			s.add(kind, o.Slug, o.ID)
		})
	case "Calendar":
		rows, err := tx.Calendar.Query().Order(calendar.ByCreatedAt(), calendar.ByID()).All(ctx) // a reference has their names as a slug
		return note(rows, err, func(c *ent.Calendar) {
			s.add(kind, "="+c.Name, c.ID)
			s.add(kind, text.Slug(c.Name, "calendar"), c.ID)
		})
	case "RoutingRule":
		rows, err := tx.RoutingRule.Query().Where(routingrule.NameIn(keys...)).Order(routingrule.ByCreatedAt(), routingrule.ByID()).All(ctx)
		return note(rows, err, func(r *ent.RoutingRule) { s.add(kind, "="+r.Name, r.ID) })
	case "SavedReply":
		rows, err := tx.SavedReply.Query().Where(savedreply.NameIn(keys...), audience.Seen[predicate.SavedReply](tx)).
			Order(savedreply.ByCreatedAt(), savedreply.ByID()).All(ctx)
		return note(rows, err, func(r *ent.SavedReply) { s.add(kind, "="+r.Name, r.ID) })
	case "Schedule":
		rows, err := tx.Schedule.Query().Where(schedule.NameIn(keys...)).Order(schedule.ByCreatedAt(), schedule.ByID()).All(ctx)
		return note(rows, err, func(v *ent.Schedule) { s.add(kind, "="+v.Name, v.ID) })
	case "InboundWebhook":
		rows, err := tx.InboundWebhook.Query().Where(inboundwebhook.NameIn(keys...)).Order(inboundwebhook.ByCreatedAt(), inboundwebhook.ByID()).All(ctx)
		return note(rows, err, func(w *ent.InboundWebhook) { s.add(kind, "="+w.Name, w.ID) })
	case "AccessPolicy":
		rows, err := tx.AccessPolicy.Query().Where(accesspolicy.NameIn(keys...)).Order(accesspolicy.ByCreatedAt(), accesspolicy.ByID()).All(ctx)
		return note(rows, err, func(p *ent.AccessPolicy) { s.add(kind, "="+p.Name, p.ID) })
	}
	return nil
}

func note[Row any](rows []*Row, err error, add func(*Row)) error {
	for _, row := range rows {
		add(row)
	}
	return err
}

// found returns the id of the row that a document stands for; empty where the company has none. ref resolves the document's references.
func (s state) found(f *file, d *document, ref func(string) string) string {
	switch {
	case d.kind.parent != "":
		parent := ref(textOf(fieldsOf(d.spec)[d.kind.parent]))
		return s[d.kind.name+"/"+parent+"/"+d.key]
	case d.kind.slugged:
		return s[d.String()]
	}
	for _, name := range f.names(d) {
		if id := s[d.kind.name+"/="+name]; id != "" {
			return id
		}
	}
	return ""
}
