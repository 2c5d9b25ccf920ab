package attachment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/files"
	"atrium/internal/platform/principal"
)

// What comes by mail has been sent already, so it is stored without being announced: a message by Keep, its files by KeepFor, which Add
// gives to what the message became.

// Keep stores what a stream brings, at most so many bytes, under the key of a company that has one.
func (d *Depot) Keep(ctx context.Context, companyID string, from io.Reader, most int64) (*files.Spooled, string, error) {
	key, err := d.keyOf(ctx, companyID)
	if err != nil {
		return nil, "", err
	}
	s, err := files.SpoolAtMost(d.Spool, key, from, most)
	if err != nil {
		return nil, "", err
	}
	defer s.Discard()
	at := files.NewKey(companyID)
	return s, at, d.Files.Put(ctx, at, s)
}

// Stored opens what Keep has stored.
func (d *Depot) Stored(ctx context.Context, companyID, storedAs string) (*files.File, error) {
	key, err := d.keyOf(ctx, companyID)
	if err != nil {
		return nil, err
	}
	return files.Open(ctx, d.Files, storedAs, key)
}

// keyOf reads the key of a company's files, outside of any transaction.
func (d *Depot) keyOf(ctx context.Context, companyID string) (files.Key, error) {
	p := principal.Worker(companyID, "mailed files")
	return keyOf(principal.With(ctx, p), d.Engine.Outside(p))
}

// Kept is a stored file that no row names yet.
type Kept struct {
	Arrived
	name string
}

// KeepFor stores a file of somebody's message. Refused tells why one is not taken.
func (d *Depot) KeepFor(ctx context.Context, by *principal.Principal, name string, from io.Reader, size int64) (Kept, error) {
	asks, tx := principal.With(ctx, by), d.Engine.Outside(by)
	if err := hasRoom(asks, tx, size); err != nil {
		return Kept{}, err
	}
	key, err := keyOf(asks, tx)
	if err != nil {
		return Kept{}, err
	}
	s, err := files.Spool(d.Spool, key, from, size)
	if err != nil {
		return Kept{}, fmt.Errorf("spool a mailed file: %w", err)
	}
	defer s.Discard()
	k := Kept{d.arriving(s, by.CompanyID), cleaned(name)}
	return k, d.Files.Put(ctx, k.StoredAs, s)
}

// Refused returns why a file is not taken; false for other errors.
func Refused(err error) (string, bool) {
	var e *apperr.Error
	if !errors.As(err, &e) || e.Code != apperr.Validation && e.Code != apperr.Conflict {
		return "", false
	}
	if len(e.Details) > 0 {
		return e.Details[0].Message, true
	}
	return e.Message, true
}

// cleaned returns a name as files here may have it.
func cleaned(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '/' || r == '\\' || unicode.IsControl(r):
			return '_'
		case unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, name)
	if runes := []rune(name); len(runes) > 255 {
		name = string(runes[:255])
	}
	out, err := fileName(name)
	if err != nil || out == "" {
		return "file"
	}
	return out
}

// DiscardKept removes the bytes of stored files that no row has come to name.
func (d *Depot) DiscardKept(ctx context.Context, kept []Kept) {
	keys := make([]string, len(kept))
	for i, k := range kept {
		keys[i] = k.StoredAs
	}
	d.Discard(ctx, keys...)
}

// Add makes stored files those of a request, or of one of its comments: as many as these may have. It returns the names of the others.
func Add(ctx context.Context, tx *op.Tx, kept []Kept, requestID string, commentID *string) (left []string, err error) {
	fits, err := roomFor(ctx, tx, &requestID, commentID, len(kept))
	if err != nil {
		return nil, err
	}
	for _, k := range kept[fits:] {
		left = append(left, k.name)
	}
	for _, k := range kept[:fits] {
		if err := add(ctx, tx, k, requestID, commentID); err != nil {
			return nil, err
		}
	}
	return left, nil
}

func add(ctx context.Context, tx *op.Tx, k Kept, requestID string, commentID *string) error {
	a, err := tx.Attachment.Create().SetRequestID(requestID).SetNillableCommentID(commentID).SetName(k.name).SetSize(k.Size).SetCreatedBy(tx.Principal().ID).Save(ctx)
	if err != nil {
		return fmt.Errorf("add a mailed file: %w", err)
	}
	var after *ent.Attachment
	if after, err = arrive(ctx, tx, a, k.Arrived); err != nil {
		return err
	}
	return tx.Note(ctx, "attachment.created", "Attachment", after.ID, nil)
}
