package graph

import (
	"context"
	"encoding/json"
	"time"

	"atrium/ent"
	rows "atrium/ent/request"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/resolve"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/request"
	"atrium/internal/desk/savedreply"
	"atrium/internal/desk/sla"
	"atrium/internal/gate"
	"atrium/internal/notify/feed"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/period"
)

func (r *subscriptionResolver) RequestChanged(ctx context.Context, id *string, filter *request.ListInput) (<-chan *generated.RequestChange, error) {
	in := request.LookUpInput{ListInput: op.Or(filter, request.ListInput{})}
	return watch(ctx, watched{feed.Requests, feed.Filter{ID: op.Or(id, "")}}, readable(r.Engine, id, request.Get, func(ctx context.Context, ids, internal []string) (map[string]*ent.Request, error) {
		in.IDs, in.Internal = ids, internal
		return resolve.Run(ctx, r.Engine, request.LookUp, in)
	}), func(kind generated.ChangeKind, q *ent.Request) *generated.RequestChange {
		return &generated.RequestChange{Change: kind, Request: q}
	})
}

func (r *mutationResolver) CreateAttachment(ctx context.Context, input attachment.CreateInput) (*generated.CreateAttachmentPayload, error) {
	a, err := resolve.Change(ctx, r.Engine, attachment.Create, input, "")
	if err != nil {
		return nil, err
	}
	return &generated.CreateAttachmentPayload{Attachment: a.Attachment, UploadURL: a.UploadURL}, nil
}

func (r *mutationResolver) TakeNextRequest(ctx context.Context, input request.TakeNextInput) (*request.Taken, error) {
	return resolve.Change(ctx, r.Engine, request.TakeNext, input, "")
}

// UpdateRequests changes the requests one after the other. A repeat with the same idempotency key does what is missing.
func (r *mutationResolver) UpdateRequests(ctx context.Context, input request.BulkInput) (*generated.UpdateRequestsPayload, error) {
	if _, err := resolve.Change(ctx, r.Engine, request.Bulk, input, ""); err != nil {
		return nil, err
	}
	if err := gate.Charge(ctx, len(input.IDs)-1); err != nil {
		return nil, err
	}
	out := &generated.UpdateRequestsPayload{}
	var done []*ent.Request
	changing := input.Gathered(ctx, r.Engine)
	for n, id := range input.IDs {
		row, err := resolve.Row(changing, r.Engine, id, input.SeenAs(n), func(c op.Call) (*ent.Request, *op.Answer, error) {
			return input.Row(changing, r.Engine, id, c)
		})
		result := &generated.RequestOutcome{ID: id, Request: row}
		if err != nil {
			result.Error = r.refusal(ctx, id, err)
		} else {
			done = append(done, row)
		}
		out.Results = append(out.Results, result)
	}
	resolve.Batch(ctx, done)
	return out, nil
}

// refusal returns why a request of several was not changed.
func (r *mutationResolver) refusal(ctx context.Context, id string, err error) *generated.RequestRefusal {
	if apperr.CodeOf(err) == apperr.Internal {
		r.Engine.Log.ErrorContext(ctx, "a row of several failed", "error", err, "row", id)
	}
	e := asError(ctx, err)
	out := &generated.RequestRefusal{Code: string(e.Code), Message: e.Message, Reason: resolve.TextOrNil(e.Reason), DecisionID: resolve.TextOrNil(e.DecisionID)}
	for _, d := range e.Details {
		out.Details = append(out.Details, &d)
	}
	return out
}

func (r *requestResolver) Comments(ctx context.Context, q *ent.Request, first *int, after *string) (*relay.Connection[ent.Comment], error) {
	return resolve.Children(ctx, r.Engine, q, func(q *ent.Request) string { return q.ID }, request.CommentsOf, first, after, resolve.Same[ent.Comment])
}

func (r *requestResolver) Creator(ctx context.Context, q *ent.Request) (relay.Actor, error) {
	return resolve.Actor(ctx, r.Engine, q, func(q *ent.Request) string { return q.CreatedBy })
}

func (r *requestResolver) Requester(ctx context.Context, q *ent.Request) (relay.Actor, error) {
	return resolve.Actor(ctx, r.Engine, q, func(q *ent.Request) string { return q.RequesterID })
}

func (r *requestResolver) Content(_ context.Context, q *ent.Request) (json.RawMessage, error) {
	return request.Content(string(q.Format), q.Description)
}

func (r *requestResolver) Watchers(ctx context.Context, q *ent.Request) ([]*request.Named, error) {
	return resolve.Attached(ctx, r.Engine, q, func(q *ent.Request) string { return q.ID }, request.WatchersOf)
}

func (r *requestResolver) Links(ctx context.Context, q *ent.Request) ([]*ent.RequestLink, error) {
	return resolve.Attached(ctx, r.Engine, q, func(q *ent.Request) string { return q.ID }, request.LinksOf)
}

func (r *requestResolver) Attachments(ctx context.Context, q *ent.Request) ([]*ent.Attachment, error) {
	return resolve.Attached(ctx, r.Engine, q, func(q *ent.Request) string { return q.ID }, attachment.OfRequests)
}

func (r *requestResolver) Assignee(ctx context.Context, q *ent.Request) (*ent.User, error) {
	return resolve.NamedUser(ctx, r.Engine, q, func(q *ent.Request) *string { return q.AssigneeID })
}

func (r *requestResolver) Team(ctx context.Context, q *ent.Request) (*ent.Team, error) {
	return resolve.NamedTeam(ctx, r.Engine, q, func(q *ent.Request) *string { return q.TeamID })
}

func (r *requestResolver) People(ctx context.Context, q *ent.Request) ([]*request.Named, error) {
	return resolve.Attached(ctx, r.Engine, q, func(q *ent.Request) string { return q.ID }, request.PeopleOf)
}

func (r *commentResolver) Via(_ context.Context, c *ent.Comment) (*generated.CommentVia, error) {
	return (*generated.CommentVia)(c.Via), nil
}

func (r *commentResolver) Attachments(ctx context.Context, c *ent.Comment) ([]*ent.Attachment, error) {
	return resolve.Attached(ctx, r.Engine, c, func(c *ent.Comment) string { return c.ID }, attachment.OfComments)
}

func (r *commentResolver) Content(_ context.Context, c *ent.Comment) (json.RawMessage, error) {
	return request.Content(string(c.Format), c.Body)
}

func (r *commentResolver) Author(ctx context.Context, c *ent.Comment) (*ent.User, error) {
	return resolve.NamedUser(ctx, r.Engine, c, func(c *ent.Comment) *string { return &c.AuthorID })
}

func (r *requestResolver) SLA(_ context.Context, q *ent.Request) (*sla.Standing, error) {
	return sla.StatusOf(q.SLAState, q.ResponseDueAt, q.ResolutionDueAt), nil
}

func (r *routingRuleResolver) Priority(_ context.Context, rule *ent.RoutingRule) (*rows.Priority, error) {
	return (*rows.Priority)(rule.Priority), nil
}

func (r *requestResolver) ViewerMay(ctx context.Context, q *ent.Request) ([]string, error) {
	return op.MayOn(ctx, r.Engine, q)
}

func (r *queryResolver) MentionChoices(ctx context.Context, requestID string, q *string) ([]*request.Mentionable, error) {
	return resolve.Run(ctx, r.Engine, request.MentionChoices, request.MentionChoicesInput{ByID: op.ByID{ID: requestID}, Q: op.Or(q, "")})
}

func (r *queryResolver) FilledReply(ctx context.Context, id, requestID string) (string, error) {
	return resolve.Run(ctx, r.Engine, savedreply.Fill, savedreply.FillInput{ByID: op.ByID{ID: requestID}, ReplyID: id})
}

func (r *queryResolver) RenderMarkdown(ctx context.Context, text string) (json.RawMessage, error) {
	return resolve.Run(ctx, r.Engine, request.RenderMarkdown, request.RenderInput{Text: text})
}

func (r *queryResolver) RequestCounts(ctx context.Context, filter *request.ListInput, by generated.RequestCountBy) ([]*request.Counted, error) {
	in := request.CountInput{ListInput: op.Or(filter, request.ListInput{}), By: string(by)}
	return resolve.Run(ctx, r.Engine, request.Count, in)
}

func (r *queryResolver) CompanyStats(ctx context.Context, from, to time.Time, by generated.CompanyStatsBy) ([]*request.Stat, error) {
	return resolve.Run(ctx, r.Engine, request.Stats, request.StatsInput{Input: period.Input{From: from, To: to}, By: string(by)})
}

func (r *queryResolver) RequestReport(ctx context.Context, from, to time.Time, filter *request.ListInput, over string, timeZone *string, by []string) (*request.Reported, error) {
	in := request.ReportInput{ListInput: op.Or(filter, request.ListInput{}), From: &from, To: &to, Over: over, TimeZone: op.Or(timeZone, ""), By: by}
	return resolve.Run(ctx, r.Engine, request.Report, in)
}
