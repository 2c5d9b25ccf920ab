package execution

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/incident"
	"atrium/ent/phasevisit"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/workflow"
	"atrium/internal/desk/lifecycle"
	domain "atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

var executionSorts = op.Sorts{
	"createdAt": execution.FieldCreatedAt, "updatedAt": execution.FieldUpdatedAt, "status": execution.FieldStatus + "," + execution.FieldCreatedAt,
}

// shownVisits limits the history in one answer: the last visits.
const shownVisits = 1000

// The operations on executions.
var (
	List = paging.NewList("execution.list", op.Spec{
		Resource: "Execution", Action: op.Read, Scope: "workflows:read", Sorts: executionSorts, Summary: "List executions",
	}, executionsOf)

	// OfWorkflow lists the executions of one workflow.
	OfWorkflow = op.OnRow("workflow.executions", op.Spec{
		Resource: "Workflow", Action: op.Read, Scope: "workflows:read", Sorts: executionSorts, Summary: "List a workflow's executions",
	}, loadWorkflow, listOfWorkflow)

	Get = op.Get("execution.read", op.Spec{
		Resource: "Execution", Action: op.Read, Scope: "workflows:read", Summary: "Get an execution, with its variables and history",
	}, loadWhole)

	Cancel = op.OnRow("execution.cancel", op.Spec{
		Resource: "Execution", Action: op.Update, Scope: "workflows:write",
		Past:    map[string]string{"execution.cancel": "execution.cancelled"},
		Summary: "Cancel an execution, what it has called, and the request that it processes",
	}, loadForEnd, cancel)
)

// Filters narrow lists of executions.
type Filters struct {
	Status    []string `json:"-" query:"status" enum:"RUNNING,WAITING,COMPLETED,FAILED,CANCELLED"`
	RequestID []string `json:"-" query:"requestId" maxLength:"64"`
	ParentID  []string `json:"-" query:"parentId" maxLength:"64" doc:"The execution that has called it."`

	IncidentStatus []string `json:"-" query:"incidentStatus" enum:"OPEN,RESOLVED" doc:"Of an incident of it: OPEN finds those that wait for somebody to resolve one."`
}

func (f Filters) where() []predicate.Execution {
	where := paging.In(nil, f.Status, execution.StatusIn)
	where = paging.In(where, f.IncidentStatus, withIncident)
	where = paging.In(where, f.ParentID, execution.ParentIDIn)
	return paging.In(where, f.RequestID, execution.RequestIDIn)
}

// withIncident matches executions that have an incident in one of the states. Only those that have not ended have an open one, so it looks
// at no others for that.
func withIncident(in ...incident.Status) predicate.Execution {
	return func(s *sql.Selector) {
		t := sql.Table(incident.Table)
		of := sql.Select(t.C(incident.FieldID)).From(t).Where(sql.And(
			sql.ColumnsEQ(t.C(incident.FieldCompanyID), s.C(execution.FieldCompanyID)), sql.ColumnsEQ(t.C(incident.FieldExecutionID), s.C(execution.FieldID))))
		incident.StatusIn(in...)(of)
		s.Where(sql.Exists(of))
		if !slices.Contains(in, incident.StatusRESOLVED) {
			s.Where(sql.In(s.C(execution.FieldStatus), execution.StatusWAITING, execution.StatusRUNNING))
		}
	}
}

// ListInput filters and pages the list.
type ListInput struct {
	paging.Page
	Filters
	WorkflowID []string `json:"-" query:"workflowId" maxLength:"64"`
}

func executionsOf(_ context.Context, tx *op.Tx, in ListInput) *ent.ExecutionQuery {
	return tx.Execution.Query().Where(paging.In(in.where(), in.WorkflowID, execution.WorkflowIDIn)...)
}

// OfWorkflowInput filters and pages the executions of one workflow.
type OfWorkflowInput struct {
	op.ByID
	paging.Page
	Filters
}

func loadWorkflow(ctx context.Context, tx *op.Tx, id string) (*ent.Workflow, error) {
	return tx.Workflow.Query().Where(workflow.ID(id)).Only(ctx)
}

func listOfWorkflow(ctx context.Context, tx *op.Tx, w *ent.Workflow, in OfWorkflowInput) (paging.List[*ent.Execution], error) {
	return paging.Of(ctx, in.Page, executionSorts, tx.Execution.Query().Where(append(in.where(), execution.WorkflowID(w.ID))...))
}

// loadWhole reads an execution with its request and its last visits.
func loadWhole(ctx context.Context, tx *op.Tx, id string) (*ent.Execution, error) {
	row, err := tx.Execution.Query().Where(execution.ID(id)).WithRequest().Only(ctx)
	if err != nil {
		return nil, err
	}
	row.Edges.Visits, err = tx.PhaseVisit.Query().Where(phasevisit.ExecutionID(id)).Order(phasevisit.ByNumber(sql.OrderDesc())).Limit(shownVisits).All(ctx)
	slices.Reverse(row.Edges.Visits)
	return row, err
}

// loadForEnd locks the request before the execution; every transaction that locks both does so.
func loadForEnd(ctx context.Context, tx *op.Tx, id string) (*ent.Execution, error) {
	row, err := tx.Execution.Query().Where(execution.ID(id)).Only(ctx)
	if err != nil {
		return nil, err
	}
	if row.RequestID != nil {
		all := tx.Unfiltered(ctx, "who may cancel an execution ends what it processes")
		if _, err := op.Lock(tx, tx.Request.Query().Where(request.ID(*row.RequestID))).Only(all); err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
	}
	return op.Lock(tx, tx.Execution.Query().Where(execution.ID(id))).Only(ctx)
}

// cancel ends the execution, its open rows, the executions for which it waits, and its request. The request of a called execution is the
// caller's, which gets an incident. Returns conflict if the execution has ended.
func cancel(ctx context.Context, tx *op.Tx, before *ent.Execution, _ op.ByID) (*ent.Execution, error) {
	if before.FinishedAt != nil {
		return nil, apperr.New(apperr.Conflict, "The execution is %s.", before.Status)
	}
	all := tx.Unfiltered(ctx, "who may cancel an execution ends those that it waits for")
	if err := enderIn(tx).end(all, before, nil); err != nil {
		return nil, err
	}
	if before.RequestID != nil && before.ParentID == nil {
		if err := cancelRequest(ctx, tx, before); err != nil {
			return nil, err
		}
	}
	after, err := loadWhole(ctx, tx, before.ID)
	if err != nil {
		return nil, fmt.Errorf("read the execution: %w", err)
	}
	tx.Changed(before, after)
	return after, nil
}

// cancelRequest cancels the execution's request if it is open, as the product's own worker.
func cancelRequest(ctx context.Context, tx *op.Tx, row *ent.Execution) error {
	r, err := tx.Request.Get(tx.Unfiltered(ctx, "the request ends with its execution, seen or not"), *row.RequestID)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if !lifecycle.RequestOpen(r.Status) {
		return nil
	}
	_, err = op.RunIn(ctx, tx.AsWorker(workerName), domain.Update, domain.UpdateInput{
		ByID: op.ByID{ID: r.ID}, Status: op.SetTo(string(request.StatusCANCELLED)), Cause: events.Cause{Execution: row.ID},
	})
	return err
}
