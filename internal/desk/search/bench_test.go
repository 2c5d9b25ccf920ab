package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// seed writes n requests of some 40 words each, which are as frequent as words are: the first of 30,000 is in nearly every request.
func seed(b *testing.B, d *desk, n int) {
	b.Helper()
	o := d.offer("Hardware", "Device")
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 4, 30_000)
	text := func(n int) string {
		var out strings.Builder
		for range n {
			fmt.Fprintf(&out, "%s%05d ", []string{"word", "слово"}[zipf.Uint64()%2], zipf.Uint64())
		}
		return strings.TrimSpace(out.String())
	}
	const chunk = 1000
	from := d.Clock.Now().Add(-2 * 365 * 24 * time.Hour)
	for i := 0; i < n; i += chunk {
		require.NoError(b, d.Store.Write(d.owner, func(ctx context.Context, tx *store.Tx) error {
			var rows []*ent.RequestCreate
			for k := i; k < min(i+chunk, n); k++ {
				at := from.Add(time.Duration(k) * time.Minute)
				rows = append(rows, tx.Request.Create().SetID(id.From("req", at)).SetNumber(int64(k+1)).SetCreatedAt(at).SetUpdatedAt(at).SetCreatedBy(d.of.Owner.ID).
					SetRequesterID(d.of.Owner.ID).SetServiceID(o.ServiceID).SetOfferingID(o.ID).SetTitle(text(6)).SetDescription(text(34)).SetFields(json.RawMessage(`{}`)))
			}
			return tx.Request.CreateBulk(rows...).Exec(ctx)
		}))
	}
	began := time.Now()
	d.index()
	b.Logf("%d documents were written in %v", n, time.Since(began))
	if pool := d.Store.Pool(); pool != nil {
		_, err := pool.Exec(b.Context(), "VACUUM ANALYZE")
		require.NoError(b, err)
	}
	require.NoError(b, d.Store.Analyze(b.Context(), map[string]int{}))
}

// What a search takes in a company with many requests: SCALE=200000 is how many, 20,000 without.
func BenchmarkSearch(b *testing.B) {
	n := 20_000
	if scale := os.Getenv("SCALE"); scale != "" {
		var err error
		n, err = strconv.Atoi(scale)
		require.NoError(b, err)
	}
	testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
		d := newDesk(b, w, w.A)
		seed(b, d, n)
		for _, c := range []struct{ name, q string }{
			{"two frequent words", "word00000 слово00001"}, {"two medium words", "word00150 слово00090"}, {"two rare words", "word02500 word04000"}, {"nothing", "printer"},
			{"beginning of 1,000 words", "word00"}, {"beginning of ten words", "word0015"}, {"frequent and excluded", "word00000 -слово00000"}, {"frequent phrase", `"word00000 word00001"`},
			{"service's name", "hardware word00150"}, {"title", "title:word00020"},
		} {
			b.Run(c.name, func(b *testing.B) {
				for b.Loop() {
					in := request.ListInput{Q: c.q, Page: paging.Page{Size: 20}}
					_, _, err := op.Run(w.As(w.A, principal.Owner), w.Engine, request.List, in, op.Call{}.Checked())
					require.NoError(b, err)
				}
			})
		}
		b.Run("file one", func(b *testing.B) {
			o := d.offer("Other", "Other")
			for b.Loop() {
				d.file(d.owner, o, "word1 word2 word3", "word4 word5 word6 word7 word8 слово9")
			}
		})
	})
}
