package execution

import (
	"context"
	"encoding/json"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

// The operations on tasks and approvals that REST has return the rows with what they show. Connections of the graph, which read windows of
// rows, look it up for those of which it is asked.

func listTasks(ctx context.Context, tx *op.Tx, in ListTasksInput) (paging.List[*ent.Task], error) {
	l, err := paging.Of(ctx, in.Page, taskSorts, tasksOf(ctx, tx, in))
	if err != nil || in.Window != nil {
		return l, err
	}
	return l, ofTasks(ctx, tx, l.Rows...)
}

func listApprovals(ctx context.Context, tx *op.Tx, in ListApprovalsInput) (paging.List[*ent.Approval], error) {
	l, err := paging.Of(ctx, in.Page, approvalSorts, approvalsOf(ctx, tx, in))
	if err != nil || in.Window != nil {
		return l, err
	}
	return l, ofApprovals(ctx, tx, l.Rows...)
}

// withShown returns the row that was loaded, with what it shows.
func withShown[Row any](attach func(context.Context, *op.Tx, ...*Row) error) func(context.Context, *op.Tx, *Row, op.ByID) (*Row, error) {
	return func(ctx context.Context, tx *op.Tx, row *Row, _ op.ByID) (*Row, error) {
		return row, attach(ctx, tx, row)
	}
}

// showing is a function of an operation that changes a row, whose result it attaches what that shows to. It was read before the
// transaction, by prepareShown, and is of what came before the row, which does not change.
func showing[Row, In any](into func(*Row) *json.RawMessage, fn func(context.Context, *op.Tx, *Row, In) (*Row, error)) func(context.Context, *op.Tx, *Row, In) (*Row, error) {
	return func(ctx context.Context, tx *op.Tx, row *Row, in In) (*Row, error) {
		ready, ok := op.Preparation[interface{ earlier() json.RawMessage }](tx)
		if !ok {
			return nil, op.ErrOutdated // it was not there
		}
		row, err := fn(ctx, tx, row, in)
		if err == nil {
			*into(row) = ready.earlier()
		}
		return row, err
	}
}

// earlier is what a row shows, before its operation runs.
type earlier json.RawMessage

func (e earlier) earlier() json.RawMessage { return json.RawMessage(e) }

// prepareShown reads what a task shows before the transaction of an operation on it; nil if there is no such task.
func prepareShown(ctx context.Context, tx *op.Tx, id string) (any, error) {
	t, err := tx.Task.Get(ctx, id)
	if err != nil {
		return nil, ent.MaskNotFound(err)
	}
	err = ofTasks(ctx, tx, t)
	return earlier(t.Shown), err
}

// prepareShownTo is prepareShown for an approval.
func prepareShownTo(ctx context.Context, tx *op.Tx, id string) (any, error) {
	a, err := tx.Approval.Get(ctx, id)
	if err != nil {
		return nil, ent.MaskNotFound(err)
	}
	err = ofApprovals(ctx, tx, a)
	return earlier(a.Shown), err
}

func shownByTask(t *ent.Task) *json.RawMessage         { return &t.Shown }
func shownByApproval(a *ent.Approval) *json.RawMessage { return &a.Shown }

func ofTasks(ctx context.Context, tx *op.Tx, rows ...*ent.Task) error {
	return attachShown(ctx, tx, rows, ofTask, shownByTask)
}

func ofApprovals(ctx context.Context, tx *op.Tx, rows ...*ent.Approval) error {
	return attachShown(ctx, tx, rows, ofApproval, shownByApproval)
}

func attachShown[Row any](ctx context.Context, tx *op.Tx, rows []*Row, of func(*Row) asked, into func(*Row) *json.RawMessage) error {
	found, err := shownTo(ctx, tx, rows, of)
	for _, row := range rows {
		if err == nil {
			*into(row), err = encode(found[of(row).id])
		}
	}
	return err
}
