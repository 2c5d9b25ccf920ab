package lifecycle

import (
	"slices"

	"entgo.io/ent/dialect/sql"

	"atrium/ent/execution"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/schema"
	"atrium/ent/task"
)

var (
	requests   = []request.Status{request.StatusPENDING, request.StatusIN_PROGRESS}
	tasks      = []task.Status{task.StatusOPEN, task.StatusIN_PROGRESS}
	executions = []execution.Status{execution.StatusRUNNING, execution.StatusWAITING}
)

// OpenRequests selects the open requests. Their statuses stand in the statement: SQLite takes the index of open requests for that alone.
func OpenRequests() predicate.Request {
	return func(s *sql.Selector) {
		s.Where(sql.ExprP(s.C(request.FieldStatus) + " IN (" + schema.OpenRequest + ")"))
	}
}

// RequestsIn selects the requests with one of the statuses.
func RequestsIn(of ...request.Status) predicate.Request {
	of = slices.Compact(slices.Sorted(slices.Values(of)))
	if len(of) == len(requests) && !slices.ContainsFunc(of, func(s request.Status) bool { return !RequestOpen(s) }) {
		return OpenRequests()
	}
	return request.StatusIn(of...)
}

// RequestOpen reports whether a request with the status is open.
func RequestOpen(s request.Status) bool { return slices.Contains(requests, s) }

// OpenTasks selects the open tasks.
func OpenTasks() predicate.Task { return task.StatusIn(tasks...) }

// TaskOpen reports whether a task with the status is open.
func TaskOpen(s task.Status) bool { return slices.Contains(tasks, s) }

// OpenExecutions selects the executions that have not ended.
func OpenExecutions() predicate.Execution { return execution.StatusIn(executions...) }

// ExecutionOpen reports whether an execution with the status has not ended.
func ExecutionOpen(s execution.Status) bool { return slices.Contains(executions, s) }
