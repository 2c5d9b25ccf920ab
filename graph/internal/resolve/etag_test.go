package resolve_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/graph/internal/resolve"
)

type config struct{ Driver string }

// tagged is a row as Ent generates it.
type tagged struct {
	config
	ID         string
	CreatedAt  time.Time
	Title      string
	Tags       map[string]string
	Fields     json.RawMessage
	LastUsedAt *time.Time
	ClosedAt   *time.Time
	Edges      struct{ Loaded bool }
}

// A row's tag is the same wherever and whenever it is made, so that If-Match holds from one release to the next as long as the row has
// the same columns.
func TestETag(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 30, 0, 123456789, time.UTC)
	row := func() *tagged { return &tagged{ID: "req_01", CreatedAt: at, Title: "Laptop is slow", ClosedAt: &at} }
	tag := resolve.ETag(row(), nil)
	require.Equal(t, "UlQlG_v6P2EGkR7QEzol", tag)

	same := row()
	same.Fields, same.LastUsedAt, same.Tags, same.Edges.Loaded = json.RawMessage(`{}`), &at, map[string]string{}, true
	require.Equal(t, tag, resolve.ETag(same, []string{}))

	other := row()
	other.Title = "Laptop is fast"
	require.NotEqual(t, tag, resolve.ETag(other, nil))
	require.NotEqual(t, tag, resolve.ETag(row(), []string{"usr_01"}))
}

func BenchmarkETag(b *testing.B) {
	at := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	row := &ent.Request{
		ID: "req_01", CreatedAt: at, UpdatedAt: at, CompanyID: "co_01", Number: 7, Title: "Laptop is slow", Status: request.StatusPENDING,
		AcceptedAt: &at, Tags: map[string]string{"site": "berlin"},
	}
	b.ReportAllocs()
	for b.Loop() {
		resolve.ETag(row, nil)
	}
}
