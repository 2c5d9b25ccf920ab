package request_test

import (
	"context"
	"strings"
	"testing"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	filed "atrium/ent/request"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// What inboxes show is counted by the index of the open requests alone, however many have ended.
func TestOpenRequestsAreCountedAlone(t *testing.T) {
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		seedRequests(t, w, ctx, 2500)
		for name, statuses := range map[string][]filed.Status{"both": {filed.StatusPENDING, filed.StatusIN_PROGRESS}, "as a list names them": {filed.StatusIN_PROGRESS, filed.StatusPENDING}} {
			requests := sql.Dialect(w.Store.Dialect()).Select("COUNT(*)").From(sql.Table(filed.Table)).Where(sql.EQ(filed.FieldCompanyID, w.A.Company.ID))
			lifecycle.RequestsIn(statuses...)(requests)
			filed.AssigneeIDIsNil()(requests)
			query, args := requests.Query()
			require.Contains(t, plan(t, w, query, args), "requests_open", name)
		}
	})
}

// plan returns how the database would answer a query.
func plan(t *testing.T, w *testkit.World, query string, args []any) string {
	t.Helper()
	explain := "EXPLAIN QUERY PLAN "
	if w.Store.Dialect() == dialect.Postgres {
		explain = "EXPLAIN (FORMAT TEXT) "
	}
	var out strings.Builder
	require.NoError(t, w.Store.Write(principal.System(t.Context(), "it asks for a plan"), func(ctx context.Context, tx *store.Tx) error {
		var rows sql.Rows
		if err := ent.DriverOf(tx.Client).Query(ctx, explain+query, args, &rows); err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // read to its end below
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		for rows.Next() {
			line := ""
			into := make([]any, len(columns)) // the text is the last
			for i := range into[:len(into)-1] {
				into[i] = new(int)
			}
			into[len(into)-1] = &line
			if err := rows.Scan(into...); err != nil {
				return err
			}
			out.WriteString(line + "\n")
		}
		return rows.Err()
	}))
	return out.String()
}
