package search

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"atrium/ent"
	"atrium/ent/comment"
	"atrium/ent/offering"
	"atrium/ent/request"
	"atrium/ent/searchdocument"
	"atrium/ent/service"
	"atrium/ent/user"
	"atrium/internal/platform/words"
)

// The kinds of tokens.
const (
	inRequest  = 'r'
	inTitle    = 't' // those of a request's title once more
	inPublic   = 'c' // of a comment that the requester reads
	inInternal = 'i' // of one that only staff reads
	inName     = 'n' // of a service, an offering or a person
	ofRow      = 'o' // ids: of a request's service, offering and requester
)

func ofRequest(r *ent.Request) *words.Document {
	d := &words.Document{}
	for _, id := range []string{r.ServiceID, r.OfferingID, r.RequesterID} {
		d.AddToken(ofRow, id)
	}
	d.Add(strconv.FormatInt(r.Number, 10), inRequest)
	d.Add(r.Title, inRequest, inTitle)
	d.Add(r.Description, inRequest)
	var answers any
	if json.Unmarshal(r.Fields, &answers) == nil { // a request has none, or an object
		addAnswers(d, answers)
	}
	return d
}

// addAnswers adds the texts and numbers of the answers to a form.
func addAnswers(d *words.Document, v any) {
	switch v := v.(type) {
	case string:
		d.Add(v, inRequest)
	case float64:
		d.Add(strconv.FormatFloat(v, 'f', -1, 64), inRequest)
	case []any:
		for _, one := range v {
			addAnswers(d, one)
		}
	case map[string]any:
		for _, one := range v {
			addAnswers(d, one)
		}
	}
}

func ofComment(c *ent.Comment) *words.Document {
	d := &words.Document{}
	d.AddToken(ofRow, c.Edges.Request.RequesterID)
	if c.Visibility == comment.VisibilityInternal {
		d.Add(c.Body, inInternal)
	} else {
		d.Add(c.Body, inPublic)
	}
	return d
}

func ofName(names ...string) *words.Document {
	d := &words.Document{}
	for _, name := range names {
		d.Add(name, inName)
	}
	return d
}

// made are documents by the ids of the rows that they were made from.
type made map[string]*words.Document

// fromRows makes documents anew from their rows. Rows that the context does not see are left out.
func fromRows(ctx context.Context, db *ent.Client, docs []*ent.SearchDocument) (made, error) {
	ids := map[searchdocument.Kind][]string{}
	for _, d := range docs {
		ids[d.Kind] = append(ids[d.Kind], d.RowID)
	}
	out := make(made, len(docs))
	for kind, some := range ids {
		if err := out.read(ctx, db, kind, some); err != nil {
			return nil, fmt.Errorf("read the rows of documents: %w", err)
		}
	}
	return out, nil
}

// read makes the documents of rows of a kind.
func (m made) read(ctx context.Context, db *ent.Client, kind searchdocument.Kind, ids []string) error {
	switch kind {
	case searchdocument.KindRequest:
		return m.requests(ctx, db, ids)
	case searchdocument.KindComment:
		return m.comments(ctx, db, ids)
	case searchdocument.KindService:
		rows, err := db.Service.Query().Where(service.IDIn(ids...)).Select(service.FieldID, service.FieldName).All(ctx)
		for _, s := range rows {
			m[s.ID] = ofName(s.Name)
		}
		return err
	case searchdocument.KindOffering:
		rows, err := db.Offering.Query().Where(offering.IDIn(ids...)).Select(offering.FieldID, offering.FieldName).All(ctx)
		for _, o := range rows {
			m[o.ID] = ofName(o.Name)
		}
		return err
	default:
		rows, err := db.User.Query().Where(user.IDIn(ids...)).Select(user.FieldID, user.FieldName, user.FieldEmail).All(ctx)
		for _, u := range rows {
			m[u.ID] = ofName(u.Name, u.Email)
		}
		return err
	}
}

func (m made) requests(ctx context.Context, db *ent.Client, ids []string) error {
	rows, err := db.Request.Query().Where(request.IDIn(ids...)).Select(request.FieldID, request.FieldNumber, request.FieldTitle,
		request.FieldDescription, request.FieldFields, request.FieldServiceID, request.FieldOfferingID, request.FieldRequesterID).All(ctx)
	for _, r := range rows {
		m[r.ID] = ofRequest(r)
	}
	return err
}

func (m made) comments(ctx context.Context, db *ent.Client, ids []string) error {
	rows, err := db.Comment.Query().Where(comment.IDIn(ids...)).
		WithRequest(func(q *ent.RequestQuery) { q.Select(request.FieldID, request.FieldRequesterID) }).All(ctx)
	for _, c := range rows {
		if c.Edges.Request != nil {
			m[c.ID] = ofComment(c)
		}
	}
	return err
}
