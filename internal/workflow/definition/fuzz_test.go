package definition

import (
	"strings"
	"testing"
)

// FuzzParse: whatever is sent, Parse answers with a definition or with rows, and rows name the definition. How long it takes
// is BenchmarkParse's matter; an endless one meets go test's own limit.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `{"phases":[],"transitions":[]}`,
		graphOf("s>p p>e", "p"), graphOf("s>p p>q:a q>p", "p", "q"),
		enrich(`request.fields.n > phases.p.x`), enrich(`[1,2].map(a, a + 1)`), enrich(strings.Repeat("(", 300)),
		callBody(`a ${secrets.A + r"\"} ${'}'}`), callBody(`${{"a": 1}.a}`),
		with(Approval, "approved", "rejected", "expired")(`{"approvers":[{"type":"user","id":"u"}],"mode":"quorum","quorum":1,"deadline":"3d"}`),
		with(Process, "done")(`{"title":"${request.title}","form":{"fields":[{"key":"a","type":"select","options":["x"],"visibleWhen":{"b":1}}]}}`),
		with(Timer, "next")(`{"until":"timestamp('2026-01-01T00:00:00Z')"}`),
		showing(`["price","p"]`), benchDefinition(),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, rows := Parse(raw)
		if (d == nil) == (len(rows) == 0) {
			t.Fatalf("definition %v and %d rows", d, len(rows))
		}
		for _, row := range rows {
			if !strings.HasPrefix(row.Field, root) || row.Message == "" || len(row.Message) > 4096 {
				t.Fatalf("row %+v", row)
			}
		}
		if d == nil {
			return
		}
		if d.Start == nil || len(d.Start.Ways()) != 1 {
			t.Fatal("no START with one way out")
		}
		for _, p := range d.Phases {
			if d.Phase(p.ID) != p || p.Type != End && len(p.Ways()) == 0 {
				t.Fatalf("phase %q hangs loose", p.ID)
			}
		}
	})
}
