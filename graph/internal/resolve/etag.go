package resolve

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"sync"
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
	for _, f := range fieldsOf(v.Type()) {
		value := reflect.Indirect(v.Field(f.index))
		if !value.IsValid() || value.Kind() == reflect.Map && value.Len() == 0 {
			continue
		}
		switch kept := value.Interface().(type) {
		case json.RawMessage, []byte:
			continue
		case time.Time:
			_ = enc.Encode([]any{f.place, kept.UnixMilli()}) // writing to a hash never fails
		default:
			if value.Kind() != reflect.Struct {
				_ = enc.Encode([]any{f.place, kept})
			}
		}
	}
	_ = enc.Encode(append([]string{}, further...)) // no ids are the same, however they were read
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:15])
}

// tagged is a field that counts for the tags of its type's rows.
type tagged struct {
	place int // among all fields of the type, promoted ones included
	index int // of the field itself
}

var taggedOf sync.Map // of []tagged by reflect.Type

// fieldsOf returns the fields of a row's type that count for its tag, in order. They are kept by type: to find them takes longer than
// all else (BenchmarkETag).
func fieldsOf(t reflect.Type) []tagged {
	if kept, ok := taggedOf.Load(t); ok {
		return kept.([]tagged)
	}
	var out []tagged
	for i, f := range reflect.VisibleFields(t) {
		if f.IsExported() && len(f.Index) == 1 && f.Name != "Edges" && f.Name != "LastUsedAt" && f.Name != "LastSeenAt" {
			out = append(out, tagged{i, f.Index[0]})
		}
	}
	taggedOf.Store(t, out)
	return out
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
