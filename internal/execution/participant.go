package execution

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/team"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/access"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// present holds those of a phase's participants who are available: users who are not deactivated, and teams and agents that
// exist. A team is staffed if at least one member is available.
type present struct {
	users                  map[string]*ent.User
	teams, staffed, agents map[string]bool
}

// presentOf looks participants up, with one statement for each kind.
func presentOf(ctx context.Context, db *ent.Client, list []definition.Participant) (*present, error) {
	ids := map[string][]string{}
	for _, one := range list {
		ids[one.Type] = append(ids[one.Type], one.ID)
	}
	p := &present{users: map[string]*ent.User{}, teams: map[string]bool{}, staffed: map[string]bool{}, agents: map[string]bool{}}
	if len(ids["user"]) > 0 {
		rows, err := db.User.Query().Where(user.IDIn(ids["user"]...), access.Here()).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("look the users up: %w", err)
		}
		for _, u := range rows {
			p.users[u.ID] = u
		}
	}
	for _, look := range []struct {
		kind string
		into map[string]bool
		of   func(ids []string) ([]string, error)
	}{
		{"team", p.teams, func(ids []string) ([]string, error) { return db.Team.Query().Where(team.IDIn(ids...)).IDs(ctx) }},
		{"team", p.staffed, func(ids []string) ([]string, error) {
			return db.TeamMember.Query().Where(teammember.TeamIDIn(ids...), teammember.HasUserWith(access.Here())).
				Unique(true).Select(teammember.FieldTeamID).Strings(ctx)
		}},
		{"agent", p.agents, func(ids []string) ([]string, error) { return db.Agent.Query().Where(agent.IDIn(ids...)).IDs(ctx) }},
	} {
		if len(ids[look.kind]) == 0 {
			continue
		}
		found, err := look.of(ids[look.kind])
		if err != nil {
			return nil, fmt.Errorf("look the %ss up: %w", look.kind, err)
		}
		for _, id := range found {
			look.into[id] = true
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

// worker returns the participant who gets a phase's task: the first responsible one who is available. It returns none if the
// phase names nobody; everyone who works requests then sees the task. missing names those responsible if none of them is
// available.
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

// decides reports whether an approver can decide.
func (p *present) decides(one definition.Participant) bool {
	if one.Type == "team" {
		return p.staffed[one.ID]
	}
	return p.has(one)
}

// quorumMissing returns why an approval cannot be approved any more after these votes, because approvers are unavailable; empty when
// it can.
func (p *present) quorumMissing(approvers []definition.Participant, mode definition.ApprovalMode, quorum int, sequential bool, votes []engine.Vote) string {
	var missing []definition.Participant
	there := 0 // approvers who have approved, or still may
	for i, a := range approvers {
		v := slices.IndexFunc(votes, func(v engine.Vote) bool { return v.Approver == i })
		switch {
		case v < 0 && !p.decides(a):
			missing = append(missing, a)
		case v < 0 || votes[v].Approve:
			there++
		}
	}
	enough := there > 0
	switch mode {
	case definition.All:
		enough = len(missing) == 0
	case definition.Quorum:
		enough = there >= quorum
	}
	if len(missing) == 0 || enough && !sequential {
		return ""
	}
	return "The approval cannot be given, since approvers are deactivated or deleted, or teams without members: " + named(missing) + "."
}

func named(list []definition.Participant) string {
	names := make([]string, len(list))
	for i, one := range list {
		names[i] = one.Type + " " + one.ID
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// approversOf returns those who decide: the approvers of an APPROVAL or, for a sign-off, the participants who are accountable.
func approversOf(p *definition.Phase, signOff bool) (list []definition.Participant, mode definition.ApprovalMode, quorum int, sequential bool) {
	if signOff {
		return roleOf(p, "accountable"), definition.Any, 0, false
	}
	for _, a := range p.Approval.Approvers {
		list = append(list, definition.Participant{Type: a.Type, ID: a.ID})
	}
	return list, p.Approval.Mode, p.Approval.Quorum, p.Approval.Order == definition.Sequential
}
