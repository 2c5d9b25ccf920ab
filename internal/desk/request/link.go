package request

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/requestlink"
	"atrium/internal/desk/participant"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

// Links say what one request is to another. Whoever may read both requests sees the link, on either side; who may not read one of them
// is not told of it. Staff who may change the one and read the other make and remove them.
var (
	ListLinks = op.OnRow("request.links", op.Spec{
		Resource: "Request", Action: op.Read, Scope: "requests:read",
		Summary: "List what a request is linked with",
	}, read, listLinks).Reaching(participant.InRequest)

	LinksOf = op.New("request.links_of", op.Spec{
		Resource: "Request", Action: op.Read, Scope: "requests:read",
		Summary: "List what several requests are linked with",
	}, linksOf)

	CreateLink = op.OnRow("request.link", op.Spec{
		Resource: "Request", Action: op.Update, Scope: "requests:write",
		Past:    map[string]string{"request.update": "request.linked"},
		Summary: "Link a request with another",
	}, load, link).WithVerbs(func(LinkInput) []string { return []string{"request.update"} })

	DeleteLink = op.OnRow("request.unlink", op.Spec{
		Resource: "Request", Action: op.Update, Scope: "requests:write",
		Past:    map[string]string{"request.update": "request.unlinked"},
		Summary: "Remove a link between two requests",
	}, loadLinked, unlink).WithVerbs(func(op.ByID) []string { return []string{"request.update"} })
)

// maxLinks bounds the links of a request, and maxAncestors how many requests lead to one by links of a type.
const (
	maxLinks     = 100
	maxAncestors = 1000
)

// LinkInput names the other request.
type LinkInput struct {
	op.ByID
	Type      string `json:"type" enum:"relates,duplicates,blocks,parent" doc:"What the request in the path is to the other: it relates to it, duplicates it, blocks it, or is its parent." example:"blocks"`
	RequestID string `json:"requestId" minLength:"1" maxLength:"64" doc:"The other request." example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
}

func listLinks(ctx context.Context, tx *op.Tx, r *ent.Request, in PeopleInput) (paging.List[*ent.RequestLink], error) {
	of, err := linksOf(ctx, tx, paging.ByIDs{IDs: []string{r.ID}})
	return pageOf(in, of[r.ID]), err
}

// linksOf returns the links of each request, in the order in which they were made.
func linksOf(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string][]*ent.RequestLink, error) {
	rows, err := tx.RequestLink.Query().Where(requestlink.Or(requestlink.FromIDIn(in.IDs...), requestlink.ToIDIn(in.IDs...))).Where(bothEnds(tx)...).
		Order(requestlink.ByCreatedAt(), requestlink.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the links: %w", err)
	}
	out := map[string][]*ent.RequestLink{}
	for _, id := range in.IDs {
		out[id] = []*ent.RequestLink{}
	}
	for _, l := range rows {
		for _, end := range []string{l.FromID, l.ToID} {
			if slices.Contains(in.IDs, end) {
				out[end] = append(out[end], l)
			}
		}
	}
	return out, nil
}

// bothEnds limits links for callers whose role reaches only their own requests.
func bothEnds(tx *op.Tx) []predicate.RequestLink {
	if !tx.OwnOnly() {
		return nil
	}
	return []predicate.RequestLink{requestlink.HasFromWith(reached(tx)...), requestlink.HasToWith(reached(tx)...)}
}

func link(ctx context.Context, tx *op.Tx, r *ent.Request, in LinkInput) (*ent.RequestLink, error) {
	other, err := another(ctx, tx, r, "requestId", in.RequestID)
	if err != nil {
		return nil, err
	}
	tx.ChangedField(in.Type, nil, other.ID)
	return connect(ctx, tx, r, other, requestlink.Type(in.Type))
}

// another loads and locks the request that a field names, which is to be another one and one that the caller sees.
func another(ctx context.Context, tx *op.Tx, r *ent.Request, field, id string) (*ent.Request, error) {
	if id == r.ID {
		return nil, apperr.InvalidField(field, "must be another request")
	}
	other, err := load(ctx, tx, id)
	if ent.IsNotFound(err) {
		return nil, apperr.InvalidField(field, "is no request of this company")
	}
	if err != nil {
		return nil, fmt.Errorf("look the other request up: %w", err)
	}
	return other, nil
}

// connect links two requests. Links of a company are made one after the other, so that two together close no circle.
func connect(ctx context.Context, tx *op.Tx, r, other *ent.Request, kind requestlink.Type) (*ent.RequestLink, error) {
	if err := tx.LockName(ctx, "links/"+r.CompanyID); err != nil {
		return nil, err
	}
	if err := mayLink(tx.Unfiltered(ctx, "links that the caller does not see count as well"), tx, r.ID, other.ID, kind); err != nil {
		return nil, err
	}
	l, err := tx.RequestLink.Create().SetFromID(r.ID).SetToID(other.ID).SetType(kind).SetCreatedBy(tx.Principal().ID).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("link the requests: %w", err)
	}
	return l, nil
}

// mayLink returns conflict when the link is there already, when there are too many, or when a request would come to block itself or to
// be its own parent.
func mayLink(ctx context.Context, tx *op.Tx, from, to string, kind requestlink.Type) error {
	same := requestlink.And(requestlink.FromID(from), requestlink.ToID(to))
	if kind == requestlink.TypeRelates {
		same = requestlink.Or(same, requestlink.And(requestlink.FromID(to), requestlink.ToID(from)))
	}
	if is, err := tx.RequestLink.Query().Where(same, requestlink.TypeEQ(kind)).Exist(ctx); err != nil || is {
		return refusedLink("The requests are linked so already.", err)
	}
	for _, id := range []string{from, to} {
		n, err := tx.RequestLink.Query().Where(requestlink.Or(requestlink.FromID(id), requestlink.ToID(id))).Count(ctx)
		if err != nil || n >= maxLinks {
			return refusedLink(fmt.Sprintf("A request has at most %d links.", maxLinks), err)
		}
	}
	if kind == requestlink.TypeParent {
		if has, err := tx.RequestLink.Query().Where(requestlink.ToID(to), requestlink.TypeEQ(kind)).Exist(ctx); err != nil || has {
			return refusedLink("The other request has a parent already.", err)
		}
	}
	if kind != requestlink.TypeParent && kind != requestlink.TypeBlocks {
		return nil
	}
	circle, err := leads(ctx, tx, to, from, kind)
	if err != nil || circle {
		return refusedLink("The other request leads back to this one by such links.", err)
	}
	return nil
}

func refusedLink(why string, err error) error {
	if err != nil {
		return fmt.Errorf("read the links: %w", err)
	}
	return apperr.New(apperr.Conflict, "%s", why)
}

// leads reports whether links of the type lead from one request to another, or to more requests than are looked at.
func leads(ctx context.Context, tx *op.Tx, from, to string, kind requestlink.Type) (bool, error) {
	seen, next := map[string]bool{}, []string{from}
	for len(next) > 0 {
		ends, err := tx.RequestLink.Query().Where(requestlink.FromIDIn(next...), requestlink.TypeEQ(kind)).GroupBy(requestlink.FieldToID).Strings(ctx)
		if err != nil {
			return false, err
		}
		next = next[:0]
		for _, id := range ends {
			if id == to || len(seen) >= maxAncestors {
				return true, nil
			}
			if !seen[id] {
				seen[id] = true
				next = append(next, id)
			}
		}
	}
	return false, nil
}

// loadLinked loads the request from which a link leads.
func loadLinked(ctx context.Context, tx *op.Tx, id string) (*ent.Request, error) {
	l, err := tx.RequestLink.Query().Where(requestlink.ID(id)).Where(bothEnds(tx)...).Only(ctx)
	if err != nil {
		return nil, err
	}
	return load(ctx, tx, l.FromID)
}

func unlink(ctx context.Context, tx *op.Tx, r *ent.Request, in op.ByID) (struct{}, error) {
	l, err := tx.RequestLink.Query().Where(requestlink.ID(in.ID)).Only(ctx)
	if err != nil {
		return struct{}{}, fmt.Errorf("read the link: %w", err)
	}
	if err := tx.RequestLink.DeleteOne(l).Exec(ctx); err != nil {
		return struct{}{}, fmt.Errorf("remove the link: %w", err)
	}
	tx.About(r.ID)
	tx.ChangedField(string(l.Type), l.ToID, nil)
	return struct{}{}, nil
}
