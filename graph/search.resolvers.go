package graph

import (
	"cmp"
	"context"
	"slices"
	"unicode/utf8"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/resolve"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow"
)

// searched lists the types of search in the order of the answer, each with its list.
var searched = []struct {
	of   generated.SearchType
	list *op.Info
	find func(ctx context.Context, e *op.Engine, q string, page paging.Page) ([]*generated.SearchHit, error)
}{
	{generated.SearchTypeRequest, request.List.Info(), func(ctx context.Context, e *op.Engine, q string, page paging.Page) ([]*generated.SearchHit, error) {
		l, err := resolve.Run(ctx, e, request.List, request.ListInput{Page: page, Q: q})
		return hits(l, err, func(x *ent.Request) (string, string, string) { return x.ID, x.Title, string(x.Status) })
	}},
	{generated.SearchTypeService, catalog.ListServices.Info(), func(ctx context.Context, e *op.Engine, q string, page paging.Page) ([]*generated.SearchHit, error) {
		l, err := resolve.Run(ctx, e, catalog.ListServices, catalog.ListServicesInput{Page: page, Q: q})
		return hits(l, err, func(x *ent.Service) (string, string, string) { return x.ID, x.Name, string(x.Status) })
	}},
	{generated.SearchTypeWorkflow, workflow.ListWorkflows.Info(), func(ctx context.Context, e *op.Engine, q string, page paging.Page) ([]*generated.SearchHit, error) {
		l, err := resolve.Run(ctx, e, workflow.ListWorkflows, workflow.ListWorkflowsInput{Page: page, Q: q})
		return hits(l, err, func(x *ent.Workflow) (string, string, string) { return x.ID, x.Name, string(x.Status) })
	}},
	{generated.SearchTypeUser, people.ListUsers.Info(), func(ctx context.Context, e *op.Engine, q string, page paging.Page) ([]*generated.SearchHit, error) {
		l, err := resolve.Run(ctx, e, people.ListUsers, people.ListUsersInput{Page: page, Q: q})
		return hits(l, err, func(x *ent.User) (string, string, string) { return x.ID, cmp.Or(x.Name, x.Email), string(x.Status) })
	}},
	{generated.SearchTypeTeam, people.ListTeams.Info(), func(ctx context.Context, e *op.Engine, q string, page paging.Page) ([]*generated.SearchHit, error) {
		l, err := resolve.Run(ctx, e, people.ListTeams, people.ListTeamsInput{Page: page, Q: q})
		return hits(l, err, func(x *ent.Team) (string, string, string) { return x.ID, x.Name, "" })
	}},
	{generated.SearchTypeOrganization, people.ListOrganizations.Info(), func(ctx context.Context, e *op.Engine, q string, page paging.Page) ([]*generated.SearchHit, error) {
		l, err := resolve.Run(ctx, e, people.ListOrganizations, people.ListOrganizationsInput{Page: page, Q: q})
		return hits(l, err, func(x *ent.Organization) (string, string, string) { return x.ID, x.Name, "" })
	}},
}

func hits[Row any](l paging.List[*Row], err error, of func(*Row) (id, title, status string)) ([]*generated.SearchHit, error) {
	out := make([]*generated.SearchHit, len(l.Rows))
	for i, row := range l.Rows {
		id, title, status := of(row)
		out[i] = &generated.SearchHit{ID: id, Title: title}
		if status != "" {
			out[i].Status = &status
		}
	}
	return out, err
}

// Search runs the list operations that the caller may run, with the caller's rights, so that it finds only what those lists show.
func (r *queryResolver) Search(ctx context.Context, q string, types []generated.SearchType, first *int) ([]*generated.SearchHit, error) {
	if n := utf8.RuneCountInString(q); n < 2 || n > 200 {
		return nil, apperr.InvalidField("q", "must have 2 to 200 characters")
	}
	size := op.Or(first, 5)
	if size < 1 || size > 20 {
		return nil, apperr.InvalidField("first", "must be between 1 and 20")
	}
	may, err := op.Permissions(ctx, r.Engine)
	if err != nil {
		return nil, err
	}
	out := []*generated.SearchHit{}
	for _, s := range searched {
		if !slices.Contains(may, s.list.Verb) || len(types) > 0 && !slices.Contains(types, s.of) {
			continue
		}
		var page paging.Page
		page.SetWindow(size, "", "-createdAt", false) // no total, because counting would read every row
		found, err := s.find(ctx, r.Engine, q, page)
		if err != nil {
			return nil, err
		}
		for _, hit := range found {
			hit.Type = s.of
		}
		out = append(out, found...)
	}
	return out, nil
}
