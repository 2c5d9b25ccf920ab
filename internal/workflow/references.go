package workflow

import (
	"context"
	"fmt"
	"unicode/utf8"

	"atrium/ent/agent"
	"atrium/ent/calendar"
	"atrium/ent/secret"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/workflow/definition"
)

// checkReferences names everything in a definition that is no row of the company: one statement for each kind that
// is named at all, however often.
func checkReferences(ctx context.Context, tx *op.Tx, refs definition.References) error {
	kinds := []struct {
		noun  string
		refs  []definition.Reference
		known func(context.Context, []string) ([]string, error)
	}{
		{"secret", refs.Secrets, func(ctx context.Context, names []string) ([]string, error) {
			return tx.Secret.Query().Where(secret.NameIn(names...)).Select(secret.FieldName).Strings(ctx)
		}},
		{"user", refs.Users, func(ctx context.Context, ids []string) ([]string, error) {
			return tx.User.Query().Where(user.IDIn(ids...)).IDs(ctx)
		}},
		{"team", refs.Teams, func(ctx context.Context, ids []string) ([]string, error) {
			return tx.Team.Query().Where(team.IDIn(ids...)).IDs(ctx)
		}},
		{"agent", refs.Agents, func(ctx context.Context, ids []string) ([]string, error) {
			return tx.Agent.Query().Where(agent.IDIn(ids...)).IDs(ctx)
		}},
		{"calendar", refs.Calendars, func(ctx context.Context, ids []string) ([]string, error) {
			return tx.Calendar.Query().Where(calendar.IDIn(ids...)).IDs(ctx)
		}},
	}
	var faults op.Refs
	for _, k := range kinds {
		if len(k.refs) == 0 {
			continue
		}
		known, err := k.known(ctx, distinct(k.refs))
		if err != nil {
			return fmt.Errorf("look the %ss of the definition up: %w", k.noun, err)
		}
		found := make(map[string]bool, len(known))
		for _, id := range known {
			found[id] = true
		}
		for _, ref := range k.refs {
			if !found[ref.ID] {
				faults.Fault(ref.Field, fmt.Sprintf("%q is no %s of this company.", short(ref.ID), k.noun))
			}
		}
	}
	return faults.Err()
}

// distinct returns what the references name, each once.
func distinct(refs []definition.Reference) []string {
	seen := make(map[string]bool, len(refs))
	var ids []string
	for _, r := range refs {
		if !seen[r.ID] {
			seen[r.ID] = true
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// short cuts what a caller wrote where an id is due to a length that a message bears.
func short(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
