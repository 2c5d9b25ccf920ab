package jobs

import "github.com/riverqueue/river/rivertype"

// UniqueStates are the states of a job that is not done, for the uniqueness of jobs of which there is one at a time.
var UniqueStates = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateScheduled, rivertype.JobStateRetryable,
}
