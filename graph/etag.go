package graph

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"time"

	"atrium/ent"
	"atrium/internal/people"
)

// etagOf returns the tag of a row as it stands: two of one row are the same until it changes. It is made of its columns, but
// for when the row was last used, which is no change of it, and for documents, which databases write otherwise than they
// were sent; what changes those sets updatedAt. further are ids that belong to the row and are kept elsewhere.
func etagOf(row any, further []string) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	v := reflect.Indirect(reflect.ValueOf(row))
	for i, f := range reflect.VisibleFields(v.Type()) {
		if !f.IsExported() || len(f.Index) > 1 || f.Name == "Edges" || f.Name == "LastUsedAt" || f.Name == "LastSeenAt" {
			continue
		}
		value := reflect.Indirect(v.FieldByIndex(f.Index))
		if !value.IsValid() || value.Kind() == reflect.Map && value.Len() == 0 {
			continue
		}
		switch kept := value.Interface().(type) {
		case json.RawMessage, []byte:
			continue
		case time.Time:
			_ = enc.Encode([]any{i, kept.UnixMilli()}) // writing to a hash never fails
		default:
			if value.Kind() != reflect.Struct {
				_ = enc.Encode([]any{i, kept})
			}
		}
	}
	_ = enc.Encode(further)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:15])
}

// tagOf is etagOf for a row that an operation loaded whole.
func tagOf(row any) string {
	switch row := row.(type) {
	case *ent.User:
		return etagOf(row, people.TeamIDs(row))
	case *ent.Team:
		return etagOf(row, people.MemberIDs(row))
	}
	return etagOf(row, nil)
}
