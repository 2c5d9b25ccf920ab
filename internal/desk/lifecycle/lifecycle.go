package lifecycle

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

// OpenRequests selects the open requests.
func OpenRequests() predicate.Request { return request.StatusIn(requests...) }

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
