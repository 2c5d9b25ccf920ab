package feed_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/request"
	"atrium/internal/notify/feed"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// Every change of a request and its comments has an audit entry, because only operations change them, and every operation
// writes one, also in a worker. So only package request may write these rows.
func TestOperationsAloneChangeRequests(t *testing.T) {
	t.Parallel()
	writes := regexp.MustCompile(`\.(Request|Comment)\.(Create|MapCreate|Update|Delete)`)
	ofARow := regexp.MustCompile(`\bent\.(Request|Comment)\b`)
	changes := regexp.MustCompile(`\.Update\(\)`)
	root := filepath.Join("..", "..", "..")
	owned := 0
	for _, folder := range []string{"cmd", "internal", "rest", "graph", "authz"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && slices.Contains([]string{"apitest", "bench", "testkit"}, d.Name()) {
				return filepath.SkipDir // used by tests only
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if !writes.Match(source) && (!ofARow.Match(source) || !changes.Match(source)) {
				return nil
			}
			rel, err := filepath.Rel(root, path)
			if strings.HasPrefix(filepath.ToSlash(rel), "internal/agent/") && !writes.Match(source) {
				return err // changes rows of runs and actions; the file also reads requests
			}
			require.Equal(t, "internal/desk/request", filepath.ToSlash(filepath.Dir(rel)), "%s changes requests: run an operation of package request instead", rel)
			owned++
			return err
		}))
	}
	require.Positive(t, owned, "the test finds none of the writes that there are")
}

// A worker's change is reported like a person's, on every node.
func TestWorkersChangesAreTold(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.file(t, d.A)
		of := feed.Filter{CompanyID: d.A.Company.ID}
		here, there := watch(t, d.here, feed.Requests, of), watch(t, d.there, feed.Requests, of)
		require.NoError(t, d.Engine.Work(t.Context(), d.A.Company.ID, "renamer", func(ctx context.Context, tx *op.Tx) error {
			_, err := op.RunIn(ctx, tx, request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, Title: op.SetTo("Renamed")})
			return err
		}))
		for _, s := range []*feed.Subscription{here, there} {
			require.Equal(t, []feed.Change{{CompanyID: d.A.Company.ID, ID: r.ID}}, take(t, s, 1))
		}
	})
}

// A comment is a change of its request. Internal is set until a change follows that everybody may see.
func TestCommentsAreChangesOfTheirRequest(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.file(t, d.A)
		s := watch(t, d.there, feed.Requests, feed.Filter{CompanyID: d.A.Company.ID, ID: r.ID})
		said := func(visibility string) *ent.Comment {
			return testkit.Run(t, d.World, d.As(d.A, principal.Owner), request.CreateComment, request.CreateCommentInput{
				ByID: op.ByID{ID: r.ID}, Body: "Hello", Visibility: &visibility,
			})
		}
		of := d.A.Company.ID
		c := said("public")
		require.Equal(t, []feed.Change{{CompanyID: of, ID: r.ID}}, take(t, s, 1))
		said("internal")
		require.Equal(t, []feed.Change{{CompanyID: of, ID: r.ID, Internal: true}}, take(t, s, 1))
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), request.UpdateComment, request.UpdateCommentInput{ByID: op.ByID{ID: c.ID}, Body: op.SetTo("Hello again")})
		require.Equal(t, []feed.Change{{CompanyID: of, ID: r.ID}}, take(t, s, 1))
	})
}
