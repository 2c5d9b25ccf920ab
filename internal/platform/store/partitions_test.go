package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/id"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// migratedUpTo applies PostgreSQL's migrations up to a version, as a binary of that version does.
func migratedUpTo(t *testing.T, s *store.Store, version string) {
	t.Helper()
	files, err := fs.Glob(store.Migrations, "migrations/postgres/*.sql")
	require.NoError(t, err)
	rawExec(t, s, "CREATE TABLE schema_migrations (version TEXT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)")
	for _, f := range files {
		name := strings.TrimSuffix(f[strings.LastIndexByte(f, '/')+1:], ".sql")
		if name[:len(version)] > version {
			continue
		}
		sql, err := fs.ReadFile(store.Migrations, f)
		require.NoError(t, err)
		rawExec(t, s, string(sql))
		sum := sha256.Sum256(sql)
		rawExec(t, s, "INSERT INTO schema_migrations VALUES ('"+name[:len(version)]+"', '"+name+"', '"+hex.EncodeToString(sum[:])+"', 'then')")
	}
}

// A database with history keeps every delivery when the table becomes partitioned. Existing rows stay in one partition, except
// those of a machine whose clock was weeks ahead.
func TestHistoryIsPartitioned(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{DatabaseURL: testkit.PostgresURL(t), MaxConns: 4})
	migratedUpTo(t, s, "20261121000012")
	old, young, beyond := id.From("whd", time.Now().Add(-100*24*time.Hour)), id.New("whd"), id.From("whd", time.Now().Add(100*24*time.Hour))
	const all = "BEGIN; SET LOCAL app.company_id = '*'; "
	rawExec(t, s, all+`INSERT INTO companies (id, created_at, updated_at, name, slug) VALUES ('co_1', now(), now(), 'Acme', 'acme');
		INSERT INTO webhook_subscriptions (id, created_at, updated_at, company_id, url, events, secret_sealed, created_by) VALUES ('whs_1', now(), now(), 'co_1', 'https://example.org', '[]', 'x', 'usr_1');
		INSERT INTO events (id, created_at, updated_at, company_id, type, subject_id, payload) VALUES ('evt_1', now(), now(), 'co_1', 'request.created', 'req_1', '{}');
		INSERT INTO webhook_deliveries (id, created_at, updated_at, company_id, event, attempts, subscription_id, event_id)
		SELECT id, '2026-01-01', now(), 'co_1', 'request.created', '[{"latencyMs": 7}]', 'whs_1', 'evt_1' FROM unnest(ARRAY['`+old+"', '"+young+"', '"+beyond+"']) AS id; COMMIT")

	names, err := s.Migrate(t.Context())
	require.NoError(t, err)
	require.Contains(t, names, "20261121000013_delivery_partitions")
	var where []string
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT array_agg(id || ' ' || tableoid::regclass || ' ' || attempts ORDER BY id)
		FROM webhook_deliveries, set_config('app.company_id', 'co_1', false) WHERE created_at = '2026-01-01' AND outcome = 'PENDING'`).Scan(&where))
	const attempts = ` [{"latencyMs": 7}]`
	require.Equal(t, []string{old + " webhook_deliveries_first" + attempts, young + " webhook_deliveries_first" + attempts, beyond + " webhook_deliveries_default" + attempts}, where)

	rawExec(t, s, all+"DELETE FROM events; COMMIT") // cascades to the deliveries in every partition
	var left int
	require.NoError(t, s.Pool().QueryRow(t.Context(), "SELECT count(*) FROM webhook_deliveries").Scan(&left))
	require.Zero(t, left)
}
