package execution

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/access"
	"atrium/internal/workflow/definition"
)

// present are those of a phase's participants who are there: users who are not deactivated, teams and agents that exist.
type present struct {
	users         map[string]*ent.User
	teams, agents map[string]bool
}

// presentOf looks participants up, one statement for each kind that is named.
func presentOf(ctx context.Context, db *ent.Client, list []definition.Participant) (*present, error) {
	ids := map[string][]string{}
	for _, one := range list {
		ids[one.Type] = append(ids[one.Type], one.ID)
	}
	p := &present{users: map[string]*ent.User{}, teams: map[string]bool{}, agents: map[string]bool{}}
	if len(ids["user"]) > 0 {
		rows, err := db.User.Query().Where(user.IDIn(ids["user"]...), access.Here()).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("look the users up: %w", err)
		}
		for _, u := range rows {
			p.users[u.ID] = u
		}
	}
	for kind, look := range map[string]func(ids []string) ([]string, error){
		"team":  func(ids []string) ([]string, error) { return db.Team.Query().Where(team.IDIn(ids...)).IDs(ctx) },
		"agent": func(ids []string) ([]string, error) { return db.Agent.Query().Where(agent.IDIn(ids...)).IDs(ctx) },
	} {
		if len(ids[kind]) == 0 {
			continue
		}
		found, err := look(ids[kind])
		if err != nil {
			return nil, fmt.Errorf("look the %ss up: %w", kind, err)
		}
		into := p.teams
		if kind == "agent" {
			into = p.agents
		}
		for _, id := range found {
			into[id] = true
		}
	}
	return p, nil
}

func (p *present) has(one definition.Participant) bool {
	switch one.Type {
	case "user":
		return p.users[one.ID] != nil
	case "team":
		return p.teams[one.ID]
	default:
		return p.agents[one.ID]
	}
}

// roleOf returns the participants of a phase who have a role.
func roleOf(p *definition.Phase, role string) []definition.Participant {
	var out []definition.Participant
	for _, one := range p.Participants {
		if one.Role == role {
			out = append(out, one)
		}
	}
	return out
}

// worker returns who is to work a phase's task: the first of those responsible who is there. Nobody (ok) where the phase names
// nobody; then everyone who works requests sees the task. missing says who is not there when all are gone.
func (p *present) worker(responsible []definition.Participant) (one definition.Participant, missing string) {
	for _, r := range responsible {
		if p.has(r) {
			return r, ""
		}
	}
	if len(responsible) > 0 {
		missing = "Nobody who is responsible for the phase is there: " + named(responsible) + "."
	}
	return one, missing
}

// quorate returns why an approval cannot be approved any more, since approvers are gone; empty when it can.
func (p *present) quorate(approvers []definition.Participant, mode definition.ApprovalMode, quorum int, sequential bool) string {
	var gone []definition.Participant
	for _, a := range approvers {
		if !p.has(a) {
			gone = append(gone, a)
		}
	}
	there := len(approvers) - len(gone)
	enough := there > 0
	switch mode {
	case definition.All:
		enough = len(gone) == 0
	case definition.Quorum:
		enough = there >= quorum
	}
	if enough && (len(gone) == 0 || !sequential) {
		return ""
	}
	return "The approval cannot be given, since approvers are deactivated or deleted: " + named(gone) + "."
}

func named(list []definition.Participant) string {
	names := make([]string, len(list))
	for i, one := range list {
		names[i] = one.Type + " " + one.ID
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// approversOf are those who decide: the approvers of an APPROVAL, for a sign-off those who are accountable.
func approversOf(p *definition.Phase, signOff bool) (list []definition.Participant, mode definition.ApprovalMode, quorum int, sequential bool) {
	if signOff {
		return roleOf(p, "accountable"), definition.Any, 0, false
	}
	for _, a := range p.Approval.Approvers {
		list = append(list, definition.Participant{Type: a.Type, ID: a.ID})
	}
	return list, p.Approval.Mode, p.Approval.Quorum, p.Approval.Order == definition.Sequential
}
