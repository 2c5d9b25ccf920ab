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
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// present holds those of a phase's participants who are available: users who are not deactivated, and teams and agents that
// exist.
type present struct {
	users         map[string]*ent.User
	teams, agents map[string]bool
}

// presentOf looks participants up, with one statement for each kind.
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
	for _, look := range []struct {
		kind string
		into map[string]bool
		of   func(ids []string) ([]string, error)
	}{
		{"team", p.teams, func(ids []string) ([]string, error) { return db.Team.Query().Where(team.IDIn(ids...)).IDs(ctx) }},
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
	case "agent":
		return p.agents[one.ID]
	}
	return one.ID != "" // a rule, of a sample
}

// hold keeps the users among some participants as they were when the plan was made: a deactivation waits for the commit, and then sees
// what it opens. Returns errMoved if one has left since.
func (p *plan) hold(ctx context.Context, tx *op.Tx, list ...definition.Participant) error {
	var ids []string
	for _, one := range list {
		if p.people.users[one.ID] != nil && !slices.Contains(ids, one.ID) {
			ids = append(ids, one.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	here, err := op.Share(tx, tx.User.Query().Where(user.IDIn(ids...), access.Here()).Order(user.ByID())).IDs(ctx)
	if err != nil {
		return fmt.Errorf("hold the people whom the phase asks: %w", err)
	}
	if len(here) < len(ids) {
		return errMoved
	}
	return nil
}

// worker returns the participant who gets a phase's task: the first responsible one who is available. It returns none if the
// phase names nobody; everyone who works requests then sees the task. Returns false if none of those whom it names is available.
func (p *present) worker(responsible []definition.Participant) (one definition.Participant, there bool) {
	for _, r := range responsible {
		if p.has(r) {
			return r, true
		}
	}
	return one, len(responsible) == 0
}

// workerMissing says why nobody gets the task of a phase.
func workerMissing(p *definition.Phase, responsible []definition.Participant, unmet string) string {
	byName := slices.DeleteFunc(slices.Clone(responsible), definition.Participant.ByRule)
	switch {
	case unmet == "":
		return "Nobody who is responsible for the phase is there: " + named(responsible) + "."
	case len(byName) > 0:
		unmet += ", and these are deactivated or deleted: " + named(byName)
	}
	return fmt.Sprintf("Nobody can get the task of the phase %q: %s.", p.Title(), unmet)
}

// lookUpSeats returns, for each approver, the people who may still decide in that place: none for a place in which somebody has decided,
// and of a team no more than could matter. Nobody decides twice, so those who have decided are in none, and neither are those in out.
func lookUpSeats(ctx context.Context, db *ent.Client, approvers []definition.Participant, votes []engine.Vote, out ...string) ([][]string, error) {
	var named []string
	for _, v := range votes {
		out = append(out, v.By)
	}
	for _, a := range approvers {
		if a.Type == "user" {
			named = append(named, a.ID)
		}
	}
	here, err := db.User.Query().Where(user.IDIn(named...), user.IDNotIn(out...), access.Here()).IDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up who may decide: %w", err)
	}
	seats := make([][]string, len(approvers))
	for i, a := range approvers {
		if slices.ContainsFunc(votes, func(v engine.Vote) bool { return v.Approver == i }) {
			continue
		}
		switch {
		case a.Type == "user":
			if slices.Contains(here, a.ID) {
				seats[i] = []string{a.ID}
			}
			continue
		case a.ByRule():
			seats[i] = []string{a.ID} // a sample does not say who that is
			continue
		}
		seats[i], err = db.TeamMember.Query().Where(teammember.TeamID(a.ID), teammember.UserIDNotIn(out...), teammember.HasUserWith(access.Here())).
			Limit(len(approvers)).Select(teammember.FieldUserID).Strings(ctx)
		if err != nil {
			return nil, fmt.Errorf("look up who may decide: %w", err)
		}
	}
	return seats, nil
}

// quorumMissing returns why an approval cannot be approved any more after these votes; empty when it can. seats are the people who
// may still decide in the place of each approver.
func quorumMissing(approvers []definition.Participant, seats [][]string, mode definition.ApprovalMode, quorum int, sequential bool, votes []engine.Vote) string {
	var open, missing []definition.Participant
	approved := 0
	for i, a := range approvers {
		v := slices.IndexFunc(votes, func(v engine.Vote) bool { return v.Approver == i })
		switch {
		case v >= 0 && votes[v].Approve:
			approved++
		case v < 0 && len(seats[i]) == 0:
			missing = append(missing, a)
			fallthrough
		case v < 0:
			open = append(open, a)
		}
	}
	need := 1
	switch mode {
	case definition.All:
		need = len(approvers)
	case definition.Quorum:
		need = quorum
	}
	enough := approved+engine.Seated(seats) >= need
	switch {
	case enough && (len(missing) == 0 || !sequential):
		return ""
	case len(missing) > 0:
		return "The approval cannot be given, since approvers are deactivated or deleted, have decided for others, have filed the request, or are teams without members: " + named(missing) + "."
	}
	return "The approval cannot be given, since too few people are left for its approvers: " + named(open) + "."
}

func named(list []definition.Participant) string {
	names := make([]string, len(list))
	for i, one := range list {
		names[i] = one.Type + " " + one.ID
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// approversOf returns those who decide, as the definition names them: the approvers of an APPROVAL or, for a sign-off, the participants who
// are accountable.
func approversOf(p *definition.Phase, signOff bool) (list []definition.Participant, mode definition.ApprovalMode, quorum int, sequential bool) {
	if signOff {
		return p.InRole("accountable"), definition.Any, 0, false
	}
	return participantsOf(p.Approval), p.Approval.Mode, p.Approval.Quorum, p.Approval.Order == definition.Sequential
}
