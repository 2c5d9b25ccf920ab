package attachment

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// Answerable returns which files the answers of a request may name: drafts of the caller's, and files of the request itself. The id is
// empty for a request that is being filed.
func Answerable(tx *op.Tx, requestID string) form.FileLookup {
	return func(ctx context.Context, ids []string) (map[string]form.Attached, error) {
		rows, err := tx.Attachment.Query().Where(attachment.IDIn(ids...), answerable(tx, requestID)).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the files of answers: %w", err)
		}
		out := make(map[string]form.Attached, len(rows))
		for _, a := range rows {
			out[a.ID] = form.Attached{Name: a.Name, MediaType: a.MediaType, Fault: faultOf(a)}
		}
		return out, nil
	}
}

// answerable matches the files that answers of a request may name. Those of its comments are not: not everybody who reads the answers
// reads these, and a comment takes its files along when it is deleted.
func answerable(tx *op.Tx, requestID string) predicate.Attachment {
	drafts := attachment.And(attachment.RequestIDIsNil(), attachment.CreatedBy(tx.Principal().ID))
	return attachment.And(live(), attachment.Or(drafts, attachment.And(attachment.RequestID(requestID), attachment.CommentIDIsNil())))
}

// faultOf returns why a file cannot be an answer; empty if it can.
func faultOf(a *ent.Attachment) string {
	switch {
	case a.Status != attachment.StatusREADY:
		return "Its bytes have not come yet."
	case a.Scan == attachment.ScanINFECTED:
		return "Is quarantined: the virus scanner found something in it."
	}
	return ""
}

// ClaimAnswers hands the drafts that answers name over to the request which is answered. Answers keep the files that they have already.
// Returns a validation error that names the place of the first id that is neither a draft of the caller's nor a file of the request, in
// the words that the form has for it.
func ClaimAnswers(ctx context.Context, tx *op.Tx, field string, answers []form.FileAnswer, requestID string, already map[string]any) error {
	var places, ids []string
	for _, answer := range answers {
		for i, id := range answer.IDs {
			if !has(already[answer.Key], id) {
				places, ids = append(places, fmt.Sprintf("%s.%s[%d]", field, answer.Key, i)), append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := op.Lock(tx, tx.Attachment.Query().Where(attachment.IDIn(ids...), answerable(tx, requestID)).Order(attachment.ByID())).All(ctx)
	if err != nil {
		return fmt.Errorf("read the files of answers: %w", err)
	}
	var drafts []string
	for i, id := range ids {
		at, fault := slices.IndexFunc(rows, func(a *ent.Attachment) bool { return a.ID == id }), "There is no such file."
		if at >= 0 {
			fault = faultOf(rows[at])
		}
		if fault != "" {
			return apperr.Invalid(apperr.Detail{Field: places[i], Message: fault})
		}
		if rows[at].RequestID == nil && !slices.Contains(drafts, id) {
			drafts = append(drafts, id)
		}
	}
	return handOver(ctx, tx, drafts, requestID, nil)
}

// has reports whether an answer, as JSON has it, is a list with an id.
func has(answer any, id string) bool {
	switch list := answer.(type) {
	case []any:
		return slices.Contains(list, any(id))
	case []string:
		return slices.Contains(list, id)
	}
	return false
}

// answersNothing returns conflict for a file that an answer of its request names: who removes it takes it out of the answer first, where
// the form says whether it may be missing. What a completed task was answered with can be changed no more, and does not keep the file.
func answersNothing(ctx context.Context, tx *op.Tx, a *ent.Attachment) error {
	if a.RequestID == nil || a.CommentID != nil {
		return nil
	}
	ctx = tx.Unfiltered(ctx, "an answer keeps its file, whoever reads the answer")
	r, err := tx.Request.Query().Where(request.ID(*a.RequestID)).WithOffering().Only(ctx)
	if err != nil {
		return fmt.Errorf("read the file's request: %w", err)
	}
	var answers map[string]any
	if len(r.Fields) > 0 {
		if err := json.Unmarshal(r.Fields, &answers); err != nil {
			return fmt.Errorf("read the request's fields: %w", err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		if has(answers[key], a.ID) {
			return apperr.New(apperr.Conflict, "The answer to %q names this file: take it out of the answer first.", questionOf(r.Edges.Offering, key))
		}
	}
	return nil
}

// questionOf returns what people read of a question; its key if the form has none by it any more.
func questionOf(o *ent.Offering, key string) string {
	if o != nil && o.Form != nil {
		for _, f := range o.Form.Fields {
			if f.Key == key {
				return f.Title()
			}
		}
	}
	return key
}
