package finder

import (
	"cmp"
	"context"
	"slices"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/words"
	"atrium/internal/workflow"
)

// Search finds rows of all types. Role and scopes of the caller decide which: those of the lists hold.
var Search = op.New("request.search", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read", Summary: "Search requests, the catalogue and people by words",
}, find)

// Input is what somebody searches for.
type Input struct {
	Q     string   `json:"-" query:"q" minLength:"2" maxLength:"200" doc:"Words in any order, without regard to case and accents; the last one may be the beginning of one. \"two words\" stand side by side, -word leaves out, title:word is in the title of a request. A number finds the request that has it." example:"slow laptop"`
	Types []string `json:"-" query:"types" enum:"Request,Service,Offering,Workflow,User,Team,Organization" doc:"Which types; all of them when not given. Those that you may not list are left out."`
	First int      `json:"-" query:"first" minimum:"1" maximum:"20" doc:"How many of each type; 5 when not given."`
	Sort  string   `json:"-" query:"sort" enum:"newest,relevance" doc:"The order of requests: the newest first, or those first that have the words in their titles."`
}

// Mark is where a word that was found stands in a text.
type Mark = words.Mark

// Hit is a row that was found.
type Hit struct {
	Type   string
	ID     string
	Title  string
	Marks  []Mark // of the title
	Status *string
	Number *int           // of a request
	Text   *words.Excerpt // of another text of a request that has the words
	In     *string        // which text that is: DESCRIPTION, ANSWERS, COMMENT or FILE
}

// Result is what was found, type by type.
type Result struct {
	Hits []*Hit
	More []string // the types of which more was found than is here
}

// typed is a type of what can be found, with the list whose rights it takes.
type typed struct {
	name string
	list *op.Info
	find func(ctx context.Context, tx *op.Tx, in Input, most int) (hits []*Hit, more bool, err error)
}

// types is in the order of the answer.
var types = []typed{
	{"Request", request.List.Info(), requests},
	{"Service", catalog.ListServices.Info(), listed(catalog.ListServices, func(p paging.Page, q string) catalog.ListServicesInput {
		return catalog.ListServicesInput{Page: p, Q: q}
	}, func(s *ent.Service) *Hit { return &Hit{ID: s.ID, Title: s.Name, Status: new(string(s.Status))} })},
	{"Offering", catalog.ListOfferings.Info(), offerings},
	{"Workflow", workflow.ListWorkflows.Info(), listed(workflow.ListWorkflows, func(p paging.Page, q string) workflow.ListWorkflowsInput {
		return workflow.ListWorkflowsInput{Page: p, Q: q}
	}, func(w *ent.Workflow) *Hit { return &Hit{ID: w.ID, Title: w.Name, Status: new(string(w.Status))} })},
	{"User", people.ListUsers.Info(), listed(people.ListUsers, func(p paging.Page, q string) people.ListUsersInput {
		return people.ListUsersInput{Page: p, Q: q}
	}, func(u *ent.User) *Hit {
		return &Hit{ID: u.ID, Title: cmp.Or(u.Name, u.Email), Status: new(string(u.Status))}
	})},
	{"Team", people.ListTeams.Info(), listed(people.ListTeams, func(p paging.Page, q string) people.ListTeamsInput {
		return people.ListTeamsInput{Page: p, Q: q}
	}, func(t *ent.Team) *Hit { return &Hit{ID: t.ID, Title: t.Name} })},
	{"Organization", people.ListOrganizations.Info(), listed(people.ListOrganizations, func(p paging.Page, q string) people.ListOrganizationsInput {
		return people.ListOrganizationsInput{Page: p, Q: q}
	}, func(o *ent.Organization) *Hit { return &Hit{ID: o.ID, Title: o.Name} })},
}

func find(ctx context.Context, tx *op.Tx, in Input) (*Result, error) {
	if in.Q == "" {
		return nil, apperr.InvalidField("q", "must have at least 2 characters")
	}
	q := words.Parse(in.Q)
	out := &Result{Hits: []*Hit{}, More: []string{}}
	for _, t := range types {
		if len(in.Types) > 0 && !slices.Contains(in.Types, t.name) {
			continue
		}
		may, err := tx.Holds(ctx, t.list.Scope, t.list.Verb)
		if err != nil {
			return nil, err
		}
		if !may {
			continue
		}
		hits, more, err := t.find(ctx, tx, in, cmp.Or(in.First, 5))
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			h.Type, h.Marks = t.name, q.Marks(h.Title)
		}
		if out.Hits = append(out.Hits, hits...); more {
			out.More = append(out.More, t.name)
		}
	}
	return out, nil
}

func requests(ctx context.Context, tx *op.Tx, in Input, most int) ([]*Hit, bool, error) {
	found, more, err := request.Find(ctx, tx, in.Q, most, in.Sort == "relevance")
	hits := make([]*Hit, len(found))
	for i, f := range found {
		number := int(f.Number)
		hits[i] = &Hit{ID: f.ID, Title: f.Title, Status: new(string(f.Status)), Number: &number}
		if f.In != "" {
			hits[i].Text, hits[i].In = &f.Excerpt, &f.In
		}
	}
	return hits, more, err
}

func offerings(ctx context.Context, tx *op.Tx, in Input, most int) ([]*Hit, bool, error) {
	found, err := catalog.FindOfferings(ctx, tx, in.Q, most+1)
	hits := make([]*Hit, min(len(found), most))
	for i := range hits {
		hits[i] = &Hit{ID: found[i].ID, Title: found[i].Name, Status: new(string(found[i].Status))}
	}
	return hits, len(found) > most, err
}

// listed finds rows by the list of their type.
func listed[In, Row any](list *op.Operation[In, paging.List[*Row]], input func(paging.Page, string) In, of func(*Row) *Hit) func(context.Context, *op.Tx, Input, int) ([]*Hit, bool, error) {
	return func(ctx context.Context, tx *op.Tx, in Input, most int) ([]*Hit, bool, error) {
		var page paging.Page
		page.SetWindow(most, "", "-createdAt", false) // no total, because counting would read every row
		found, err := op.RunIn(ctx, tx, list, input(page, in.Q))
		hits := make([]*Hit, len(found.Rows))
		for i, row := range found.Rows {
			hits[i] = of(row)
		}
		return hits, found.More, err
	}
}
