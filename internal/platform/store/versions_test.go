package store_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/platform/store"
)

// Workflows published before versions were stored get a row for their last version; drafts get none.
func TestPublishedWorkflowsGetTheirVersion(t *testing.T) {
	t.Parallel()
	empty(t, func(t *testing.T, o store.Options) {
		s := open(t, o)
		_, err := s.Migrate(t.Context())
		require.NoError(t, err)
		var published, draft *ent.Workflow
		require.NoError(t, s.Write(system(), func(ctx context.Context, tx *store.Tx) error {
			c, err := tx.Company.Create().SetName("C").SetSlug("c").Save(ctx)
			if err != nil {
				return err
			}
			made := func(slug string, version int) *ent.WorkflowCreate {
				return tx.Workflow.Create().SetCompanyID(c.ID).SetName("W").SetSlug(slug).SetVersion(version).SetDefinition(json.RawMessage(`{"b":1.50,"a":"x"}`))
			}
			if published, err = made("p", 3).Save(ctx); err != nil {
				return err
			}
			draft, err = made("d", 0).Save(ctx)
			return err
		}))
		rawExec(t, s, "DROP TABLE workflow_versions") // restores the state before the migration
		rawExec(t, s, "DELETE FROM schema_migrations WHERE name LIKE '%workflow_versions%'")
		names, err := s.Migrate(t.Context())
		require.NoError(t, err)
		require.Len(t, names, 2)
		rows, err := s.Reader().WorkflowVersion.Query().All(system())
		require.NoError(t, err)
		require.Len(t, rows, 1, "%s is a draft", draft.ID)
		require.Equal(t, []any{published.ID, 3, published.CompanyID, `{"b":1.50,"a":"x"}`, "system"},
			[]any{rows[0].WorkflowID, rows[0].Version, rows[0].CompanyID, string(rows[0].Definition), rows[0].PublishedBy})
		require.True(t, rows[0].PublishedAt.Equal(published.UpdatedAt))
		require.Nil(t, rows[0].Uses)
	})
}
