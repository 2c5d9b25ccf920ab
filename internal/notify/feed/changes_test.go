package feed_test

import (
	"context"
	"path"
	"regexp"
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
	changes := regexp.MustCompile(`\b[a-z]\w*\.Update\(\)`) // of a row, not of an entity by its name
	owned := 0
	for file, source := range testkit.Sources(t, "cmd", "internal", "rest", "graph", "authz") {
		if !writes.MatchString(source) && (!ofARow.MatchString(source) || !changes.MatchString(source) || strings.HasPrefix(file, "internal/agent/")) {
			continue // files of agents change rows of runs and actions, and also read requests
		}
		require.Equal(t, "internal/desk/request", path.Dir(file), "%s changes requests: run an operation of package request instead", file)
		owned++
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
