package graph

import (
	"context"

	"atrium/ent"
	"atrium/internal/desk/requestimport"
)

func (r *requestImportResolver) Faults(_ context.Context, i *ent.RequestImport) ([]*requestimport.Fault, error) {
	return requestimport.FaultsOf(i), nil
}
