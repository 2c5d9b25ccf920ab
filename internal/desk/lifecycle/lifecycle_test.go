package lifecycle_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/execution"
	"atrium/ent/request"
	"atrium/ent/task"
	"atrium/internal/desk/lifecycle"
)

// What has not ended is open.
func TestOpen(t *testing.T) {
	t.Parallel()
	for status, isOpen := range map[request.Status]bool{
		request.StatusPENDING: true, request.StatusIN_PROGRESS: true, request.StatusCOMPLETED: false, request.StatusCANCELLED: false,
	} {
		require.Equal(t, isOpen, lifecycle.RequestOpen(status), status)
	}
	for status, isOpen := range map[task.Status]bool{
		task.StatusOPEN: true, task.StatusIN_PROGRESS: true, task.StatusCOMPLETED: false, task.StatusCANCELLED: false,
	} {
		require.Equal(t, isOpen, lifecycle.TaskOpen(status), status)
	}
	for status, isOpen := range map[execution.Status]bool{
		execution.StatusRUNNING: true, execution.StatusWAITING: true, execution.StatusCOMPLETED: false, execution.StatusFAILED: false,
		execution.StatusCANCELLED: false,
	} {
		require.Equal(t, isOpen, lifecycle.ExecutionOpen(status), status)
	}
}
