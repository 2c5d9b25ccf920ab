package request

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/approval"
	"atrium/ent/comment"
	"atrium/ent/request"
	"atrium/ent/serviceaccount"
	"atrium/ent/task"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/desk/participant"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

// Whoever may read a request may know by name whom it is about: members, who read no users and teams, could not tell who answers
// them otherwise. These operations show ids and names alone, of what the access policies do not hide.
var (
	People = op.OnRow("request.people", op.Spec{
		Resource: "Request", Action: op.Read, Scope: "requests:read",
		Summary: "List who filed a request, wrote in it, works on it and answers for it",
	}, load, people).Reaching(participant.InRequest)

	PeopleOf = op.New("request.people_of", op.Spec{
		Resource: "Request", Action: op.Read, Scope: "requests:read",
		Summary: "List who takes part in several requests",
	}, peopleOf)

	// Edges of requests, comments and tasks that ask for nothing but names lead through these.
	NameUsers  = names("request.name_users", "Name the users of rows about requests", func(tx *op.Tx) *ent.UserQuery { return tx.User.Query() })
	NameTeams  = names("request.name_teams", "Name the teams of rows about requests", func(tx *op.Tx) *ent.TeamQuery { return tx.Team.Query() })
	NameRobots = names("request.name_service_accounts", "Name the service accounts of rows about requests",
		func(tx *op.Tx) *ent.ServiceAccountQuery { return tx.ServiceAccount.Query() })
)

// names declares a look-up that reads nothing but ids and names, whatever columns it is asked for.
func names[Q paging.Query[Q, Row, P, O], Row any, P, O ~func(*sql.Selector)](name, summary string, query func(*op.Tx) Q) *op.Operation[paging.ByIDs, map[string]*Row] {
	return op.New(name, op.Spec{Resource: "Request", Action: op.Read, Scope: "requests:read", Summary: summary},
		func(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string]*Row, error) {
			return paging.LookUp(ctx, query(tx), paging.ByIDs{IDs: in.IDs, Columns: []string{"id", "name"}})
		})
}

// PeopleInput pages the people, the watchers or the links of one request.
type PeopleInput struct {
	op.ByID
	Number int `json:"-" query:"page" default:"1" minimum:"1" doc:"The page, counted from 1."`
	Size   int `json:"-" query:"pageSize" default:"20" minimum:"1" maximum:"100" doc:"Rows a page."`
}

// Named is a user, team, service account or agent by its name.
type Named struct{ ID, Name string }

func people(ctx context.Context, tx *op.Tx, r *ent.Request, in PeopleInput) (paging.List[*Named], error) {
	of, err := named(ctx, tx, []*ent.Request{r})
	return pageOf(in, of[r.ID]), err
}

// pageOf returns one page of what has been read as a whole.
func pageOf[T any](in PeopleInput, all []T) paging.List[T] {
	from := min(in.Number-1, len(all)) * in.Size
	from = min(from, len(all))
	return paging.List[T]{Rows: all[from:min(from+in.Size, len(all))], Total: len(all), Page: paging.Page{Number: in.Number, Size: in.Size}}
}

func peopleOf(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string][]*Named, error) {
	list, err := tx.Request.Query().Where(request.IDIn(in.IDs...)).Where(reached(tx)...).
		Select(request.FieldID, request.FieldCreatedBy, request.FieldRequesterID, request.FieldAssigneeID, request.FieldTeamID).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the requests: %w", err)
	}
	of, err := named(ctx, tx, list)
	for id, all := range of {
		of[id] = all[:min(len(all), maxPeople)]
	}
	return of, err
}

// maxPeople bounds the people of each request where they are not paged.
const maxPeople = 200

// named returns by request who takes part in it, by name.
func named(ctx context.Context, tx *op.Tx, list []*ent.Request) (map[string][]*Named, error) {
	parts, err := partsIn(ctx, tx, list)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, of := range parts {
		maps.Copy(ids, of)
	}
	known, err := NameAll(ctx, tx, slices.Collect(maps.Keys(ids)))
	if err != nil {
		return nil, err
	}
	out := map[string][]*Named{}
	for r, of := range parts {
		all := []*Named{}
		for id := range of {
			if known[id] != nil {
				all = append(all, known[id])
			}
		}
		slices.SortFunc(all, func(a, b *Named) int { return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID)) })
		out[r] = all
	}
	return out, nil
}

// partsIn returns by request the ids of those who filed it, deal with it, wrote comments that the caller may read, work on its tasks
// and decide on it.
func partsIn(ctx context.Context, tx *op.Tx, list []*ent.Request) (map[string]map[string]bool, error) {
	parts, ids := map[string]map[string]bool{}, make([]string, len(list))
	add := func(requestID string, who ...string) {
		for _, id := range who {
			parts[requestID][id] = true
		}
	}
	for i, r := range list {
		ids[i], parts[r.ID] = r.ID, map[string]bool{}
		add(r.ID, r.CreatedBy, r.RequesterID, op.Or(r.AssigneeID, ""), op.Or(r.TeamID, ""))
	}
	var authors []struct {
		RequestID string `json:"request_id"`
		AuthorID  string `json:"author_id"`
	}
	if err := tx.Comment.Query().Where(comment.RequestIDIn(ids...)).Where(shown(tx)...).
		GroupBy(comment.FieldRequestID, comment.FieldAuthorID).Scan(ctx, &authors); err != nil {
		return nil, fmt.Errorf("read who wrote: %w", err)
	}
	for _, a := range authors {
		add(a.RequestID, a.AuthorID)
	}
	tasks, err := tx.Task.Query().Where(task.RequestIDIn(ids...)).
		Select(task.FieldRequestID, task.FieldAssigneeID, task.FieldTeamID, task.FieldAgentID, task.FieldCompletedBy).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read who works: %w", err)
	}
	for _, t := range tasks {
		add(*t.RequestID, op.Or(t.AssigneeID, ""), op.Or(t.TeamID, ""), op.Or(t.AgentID, ""), op.Or(t.CompletedBy, ""))
	}
	approvals, err := tx.Approval.Query().Where(approval.RequestIDIn(ids...)).
		Select(approval.FieldRequestID, approval.FieldApprovers, approval.FieldDecisions).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read who decides: %w", err)
	}
	for _, a := range approvals {
		decide, have, err := participant.Deciders(a)
		if err != nil {
			return nil, err
		}
		add(*a.RequestID, slices.Concat(decide, have)...)
	}
	return parts, nil
}

// NameAll returns those of some users, teams, service accounts and agents that the access policies show, by id.
func NameAll(ctx context.Context, tx *op.Tx, ids []string) (map[string]*Named, error) {
	out := map[string]*Named{}
	users, err := tx.User.Query().Where(user.IDIn(ids...)).Select(user.FieldID, user.FieldName).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("name the users: %w", err)
	}
	for _, u := range users {
		out[u.ID] = &Named{u.ID, u.Name}
	}
	teams, err := tx.Team.Query().Where(team.IDIn(ids...)).Select(team.FieldID, team.FieldName).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("name the teams: %w", err)
	}
	for _, t := range teams {
		out[t.ID] = &Named{t.ID, t.Name}
	}
	accounts, err := tx.ServiceAccount.Query().Where(serviceaccount.IDIn(ids...)).Select(serviceaccount.FieldID, serviceaccount.FieldName).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("name the service accounts: %w", err)
	}
	for _, a := range accounts {
		out[a.ID] = &Named{a.ID, a.Name}
	}
	agents, err := tx.Agent.Query().Where(agent.IDIn(ids...)).Select(agent.FieldID, agent.FieldName).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("name the agents: %w", err)
	}
	for _, a := range agents {
		out[a.ID] = &Named{a.ID, a.Name}
	}
	return out, nil
}
