package main

import (
	"context"
	"errors"

	"atrium/internal/platform/store"
)

type migrateCmd struct {
	dataFlags
	jsonFlag
}

// Run migrates the database.
func (m *migrateCmd) Run(ctx context.Context) error {
	if err := m.prepare(); err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Options{DataDir: m.Data, DatabaseURL: m.DatabaseURL})
	if err != nil {
		return err
	}
	names, err := s.Migrate(ctx)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	lines := make([]string, 0, len(names)+1)
	for _, n := range names {
		lines = append(lines, "applied "+n)
	}
	return errors.Join(m.print(map[string]any{"applied": append([]string{}, names...)}, append(lines, "the database is at this version")...), s.Close())
}
