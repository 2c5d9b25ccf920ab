package resolve

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"time"

	"atrium/ent"
	"atrium/internal/people"
)

// ETag returns the entity tag of a row, which stays the same until the row changes. It is computed from the columns. Two kinds
// of columns are left out: the time of the last use, which is no change; and JSON documents, which databases do not return as
// they were sent, and whose changes set updatedAt. further are ids that belong to the row and are stored elsewhere.
func ETag(row any, further []string) string {
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
	_ = enc.Encode(append([]string{}, further...)) // no ids are the same, however they were read
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:15])
}

// tagOf is etagOf for a row that an operation loaded with all columns.
func tagOf(row any) string {
	switch row := row.(type) {
	case *ent.User:
		return ETag(row, people.TeamIDs(row))
	case *ent.Team:
		return ETag(row, people.MemberIDs(row))
	}
	return ETag(row, nil)
}
