package resolve_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/graph/internal/resolve"
)

func tagRow() *ent.Request {
	at := time.Date(2026, 3, 1, 9, 30, 0, 123456789, time.UTC)
	return &ent.Request{
		ID: "req_01", CreatedAt: at, UpdatedAt: at, CompanyID: "co_01", Number: 7, Title: "Laptop is slow", Status: request.StatusPENDING,
		AcceptedAt: &at, Tags: map[string]string{"site": "berlin"},
	}
}

// A row's tag is the same wherever and whenever it is made, so that If-Match holds from one release to the next.
func TestETag(t *testing.T) {
	t.Parallel()
	row := tagRow()
	tag := resolve.ETag(row, nil)
	require.Equal(t, "wWY7OJvCAp7qDQS5c48J", tag)
	require.Equal(t, tag, resolve.ETag(tagRow(), []string{}))
	row.Title = "Laptop is fast"
	require.NotEqual(t, tag, resolve.ETag(row, nil))
	require.NotEqual(t, tag, resolve.ETag(tagRow(), []string{"usr_01"}))
}

func BenchmarkETag(b *testing.B) {
	row := tagRow()
	b.ReportAllocs()
	for b.Loop() {
		resolve.ETag(row, nil)
	}
}
