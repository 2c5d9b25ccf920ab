package open

import (
	"slices"

	"atrium/ent/execution"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/task"
)

var (
	requests   = []request.Status{request.StatusPENDING, request.StatusIN_PROGRESS}
	tasks      = []task.Status{task.StatusOPEN, task.StatusIN_PROGRESS}
	executions = []execution.Status{execution.StatusRUNNING, execution.StatusWAITING}
)

// Requests selects the open requests.
func Requests() predicate.Request { return request.StatusIn(requests...) }

// Request reports whether a request with the status is open.
func Request(s request.Status) bool { return slices.Contains(requests, s) }

// Tasks selects the open tasks.
func Tasks() predicate.Task { return task.StatusIn(tasks...) }

// Task reports whether a task with the status is open.
func Task(s task.Status) bool { return slices.Contains(tasks, s) }

// Executions selects the executions that have not ended.
func Executions() predicate.Execution { return execution.StatusIn(executions...) }

// Execution reports whether an execution with the status has not ended.
func Execution(s execution.Status) bool { return slices.Contains(executions, s) }
