package paging_test

import (
	"testing"

	"atrium/internal/op/paging"

	"pgregory.net/rapid"
)

// Pages never overlap and cover everything; those past the end say so, however far they lie.
func TestPagesCoverEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		total, size := rapid.IntRange(0, 2000).Draw(t, "total"), rapid.IntRange(1, 100).Draw(t, "size")
		pages := paging.List[int]{Total: total, Page: paging.Page{Size: size}}.Pages()
		next := 0
		for n := 1; n <= pages; n++ {
			off, ok := paging.Page{Number: n, Size: size}.Offset(total)
			if !ok || off != next {
				t.Fatalf("page %d of %d starts at %d (%t), not at %d", n, pages, off, ok, next)
			}
			next = min(off+size, total)
		}
		if next != total {
			t.Fatalf("%d of %d rows are on a page", next, total)
		}
		past := rapid.OneOf(rapid.Just(pages+1), rapid.IntRange(pages+1, 1<<62)).Draw(t, "past")
		if _, ok := (paging.Page{Number: past, Size: size}).Offset(total); ok {
			t.Fatalf("page %d lies past the end", past)
		}
	})
}
