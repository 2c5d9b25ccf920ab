package main

import (
	"context"
	"errors"
	"fmt"

	"atrium/internal/store"
)

type migrateCmd struct{ dataFlags }

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
	for _, n := range names {
		fmt.Println("applied " + n)
	}
	fmt.Println("the database is at this version")
	return s.Close()
}
