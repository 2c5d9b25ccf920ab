package scalar

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"atrium/internal/desk/form"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/text"
)

// MarshalTime encodes a time as REST does: RFC 3339 in UTC with milliseconds.
func MarshalTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { write(w, `"`+t.UTC().Format(clock.Format)+`"`) })
}

// UnmarshalTime reads an RFC 3339 date-time.
func UnmarshalTime(v any) (time.Time, error) {
	s, ok := v.(string)
	if !ok {
		return time.Time{}, errTime
	}
	t, ok := text.Moment(s)
	if !ok {
		return time.Time{}, errTime
	}
	return t, nil
}

// Fault says what a value must be.
type Fault string

// Error returns the text.
func (f Fault) Error() string { return string(f) }

const errTime = Fault("must be an RFC 3339 date-time")

// answerBytes bounds the raw JSON of an answer: one value of a mebibyte could be asked for under 500 aliases.
const answerBytes = 64 << 20

type answerKey struct{}

// ForAnswer returns the context of one operation, whose answer has 64 MiB of raw JSON at most.
func ForAnswer(ctx context.Context) context.Context {
	left := &atomic.Int64{}
	left.Store(answerBytes)
	return context.WithValue(ctx, answerKey{}, left)
}

// MarshalRaw writes raw JSON; null if it is empty.
func MarshalRaw(raw json.RawMessage) graphql.ContextMarshaler {
	return graphql.ContextWriterFunc(func(ctx context.Context, w io.Writer) error {
		if left, ok := ctx.Value(answerKey{}).(*atomic.Int64); ok && left.Add(-int64(len(raw))) < 0 {
			return apperr.New(apperr.QueryTooComplex, "The answer is longer than %d MiB. Ask for fewer rows or fewer fields.", answerBytes>>20)
		}
		if len(raw) == 0 {
			raw = json.RawMessage("null")
		}
		_, err := w.Write(raw)
		return err
	})
}

// UnmarshalRaw reads any JSON value.
func UnmarshalRaw(_ context.Context, v any) (json.RawMessage, error) {
	raw, err := json.Marshal(listed(v))
	if err != nil {
		return nil, fmt.Errorf("read the JSON: %w", err)
	}
	return raw, nil
}

// listed replaces nil slices by empty ones. gqlparser reads [] in a document as a nil slice, which would be encoded as null.
func listed(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = listed(one)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, one := range v {
			out[key] = listed(one)
		}
		return out
	}
	return v
}

// MarshalTexts writes a map of strings; {} for nil.
func MarshalTexts(texts map[string]string) graphql.Marshaler {
	if texts == nil {
		texts = map[string]string{}
	}
	return written(texts)
}

// UnmarshalTexts always fails, because no input has this type: inputs take maps of strings as JSON, and the operation's rules
// report their faults.
func UnmarshalTexts(any) (map[string]string, error) { return nil, errInput }

// MarshalForm writes an offering's form.
func MarshalForm(f form.Definition) graphql.ContextMarshaler { return MarshalRaw(encoded(f)) }

// UnmarshalForm always fails, as UnmarshalTexts does.
func UnmarshalForm(context.Context, any) (form.Definition, error) { return form.Definition{}, errInput }

const errInput = Fault("must be JSON")

// MarshalTagFilter writes a filter by tags.
func MarshalTagFilter(tags map[string][]string) graphql.Marshaler { return written(tags) }

const errTagFilter = Fault("must be an object of tags with one value or a list of values each")

// UnmarshalTagFilter reads a filter by tags: an object whose values are strings or lists of strings.
func UnmarshalTagFilter(v any) (map[string][]string, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errTagFilter
	}
	out := make(map[string][]string, len(m))
	for key, value := range m {
		for _, one := range graphql.CoerceList(value) {
			text, ok := one.(string)
			if !ok {
				return nil, errTagFilter
			}
			out[key] = append(out[key], text)
		}
	}
	return out, nil
}

func written(v any) graphql.Marshaler {
	raw := encoded(v)
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(raw) }) // writing to the answer's buffer never fails
}

func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // a value of a JSON column always encodes
	}
	return raw
}

func write(w io.Writer, s string) { _, _ = io.WriteString(w, s) } // writing to the answer's buffer never fails
