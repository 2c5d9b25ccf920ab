package trial

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/internal/desk/request"
	"atrium/internal/op"
)

// name names the participants of the steps, as far as the caller may know them.
func (t *trial) name(ctx context.Context, tx *op.Tx) error {
	if may, err := tx.Holds(ctx, "requests:read", "request.read"); err != nil || !may || len(t.who) == 0 {
		return err
	}
	ids := map[string]bool{}
	for _, p := range t.who {
		ids[p.ID] = true
	}
	known, err := request.NameAll(ctx, tx, sorted(ids))
	if err != nil {
		return err
	}
	for _, p := range t.who {
		if n := known[p.ID]; n != nil {
			p.Name = &n.Name
		}
	}
	return nil
}

// shown writes a value that the result shows, and counts its bytes.
func (t *trial) shown(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("show %T: %w", v, err)
	}
	t.bytes += len(raw)
	return raw, nil
}
