package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"atrium/internal/agent/model"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// What the workers have in common.
const (
	Name        = "agents"
	MaxAttempts = 4 // for a job that fails with an error
	RetryAfter  = time.Second
	ModelTime   = model.Timeout + 20*time.Second // limit of a job that calls a model
)

// The agents' queues, besides execution.AgentQueue.
const (
	DeadlineQueue = "agent_deadlines" // of the jobs that end waiting, so that runs delay no deadlines
	ModelQueue    = "agent_models"    // of its own, because a call may take a minute
)

// Contain returns what work returns, or an error for a panic in it: a run that panics ends like one that keeps failing.
func Contain(work func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return work()
}

// Stopped reports whether a job ends because its process stops, so that another node continues it. A job that exceeded its
// timeout has failed, and must still record that.
func Stopped(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// SwitchedOff is the error of an operation on a server whose agents are switched off.
func SwitchedOff() error {
	return apperr.New(apperr.Conflict, "Agents are switched off on this server.")
}

// Wrap returns an error with what was being done; nil for nil.
func Wrap(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// Outside returns the context in which a worker reads outside of transactions.
func Outside(ctx context.Context, e *op.Engine, company string) context.Context {
	return e.Reading(ctx, company, Name)
}
