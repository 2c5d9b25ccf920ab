package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/ent/comment"
	"atrium/ent/offering"
	"atrium/ent/request"
	"atrium/ent/searchdocument"
	"atrium/ent/service"
	"atrium/ent/user"
	"atrium/internal/platform/id"
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

func ofRequest(r *ent.Request, files []string) *words.Document {
	d := &words.Document{}
	for _, id := range []string{r.ServiceID, r.OfferingID, r.RequesterID} {
		d.AddToken(ofRow, id)
	}
	d.Add(strconv.FormatInt(r.Number, 10), inRequest)
	d.Add(r.Title, inRequest, inTitle)
	d.Add(r.Description, inRequest)
	for _, answer := range Answers(r.Fields) {
		d.Add(answer, inRequest)
	}
	for _, name := range files {
		d.Add(name, inRequest)
	}
	return d
}

// Answers returns the texts and numbers among the answers to a form, by the order of their keys. It leaves out ids of files: their names
// stand beside the answers.
func Answers(fields json.RawMessage) (texts []string) {
	var answers any
	if json.Unmarshal(fields, &answers) != nil {
		return nil // a request has none, or an object
	}
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case string:
			if !id.Valid("att", v) {
				texts = append(texts, v)
			}
		case float64:
			texts = append(texts, strconv.FormatFloat(v, 'f', -1, 64))
		case []any:
			for _, one := range v {
				add(one)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				add(v[key])
			}
		}
	}
	add(answers)
	return texts
}

func ofComment(c *ent.Comment, files []string) *words.Document {
	d := &words.Document{}
	d.AddToken(ofRow, c.Edges.Request.RequesterID)
	kind := byte(inPublic)
	if c.Visibility == comment.VisibilityInternal {
		kind = inInternal
	}
	d.Add(c.Body, kind)
	for _, name := range files {
		d.Add(name, kind)
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
	if err != nil {
		return err
	}
	files, err := Files(ctx, db, ids)
	for _, r := range rows {
		m[r.ID] = ofRequest(r, files[r.ID])
	}
	return err
}

func (m made) comments(ctx context.Context, db *ent.Client, ids []string) error {
	rows, err := db.Comment.Query().Where(comment.IDIn(ids...)).
		WithRequest(func(q *ent.RequestQuery) { q.Select(request.FieldID, request.FieldRequesterID) }).All(ctx)
	if err != nil {
		return err
	}
	files, err := Files(ctx, db, ids)
	for _, c := range rows {
		if c.Edges.Request != nil {
			m[c.ID] = ofComment(c, files[c.ID])
		}
	}
	return err
}

// Files returns the names of the files at comments, and at requests themselves, by the row that they are at.
func Files(ctx context.Context, db *ent.Client, rows []string) (map[string][]string, error) {
	files, err := db.Attachment.Query().Where(attachment.StatusEQ(attachment.StatusREADY), attachment.DeletedAtIsNil(), attachment.Or(
		attachment.CommentIDIn(rows...), attachment.And(attachment.RequestIDIn(rows...), attachment.CommentIDIsNil()))).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the names of files: %w", err)
	}
	names := map[string][]string{}
	for _, a := range files {
		if at := cmp.Or(a.CommentID, a.RequestID); at != nil {
			names[*at] = append(names[*at], a.Name)
		}
	}
	return names, nil
}
