package main

import (
	"context"
	"errors"

	"atrium/internal/desk/search"
)

type searchReindexCmd struct {
	dataFlags
	jsonFlag
}

// Run writes every document of the search anew, beside a server that may run. A row is not found by what the index has until it is written.
func (m *searchReindexCmd) Run(ctx context.Context) (err error) {
	c, err := m.openExisting(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := search.NewIndexer(c.store, c.log).Reindex(ctx); err != nil {
		return err
	}
	return m.print(map[string]any{"ok": true}, "every request and comment can be found by its words again")
}
