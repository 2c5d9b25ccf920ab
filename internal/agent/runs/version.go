package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
)

// RequestVersion returns a digest of the parts of a request that a plan depends on, so that a plan can be compared with the request
// later. The clocks of service levels are not part of it.
func RequestVersion(r *ent.Request) (string, error) {
	tags := r.Tags
	if len(tags) == 0 {
		tags = nil // nil and empty tags are equal
	}
	raw, err := json.Marshal([]any{r.Title, r.Description, r.Status, r.Priority, tags, r.TeamID, r.AssigneeID, r.Fields, r.Waiting, r.SnoozedUntil, r.OfferingID})
	if err != nil {
		return "", fmt.Errorf("digest the request: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// sameVersion reports whether the versions of two requests are equal. It digests no answers, which may have a mebibyte: this runs in
// every change of a request.
func sameVersion(a, b *ent.Request) (bool, error) {
	x, y := *a, *b
	x.Fields, y.Fields = nil, nil
	was, err := RequestVersion(&x)
	if err != nil {
		return false, err
	}
	is, err := RequestVersion(&y)
	return was == is && bytes.Equal(a.Fields, b.Fields), err
}

// VersionNow returns the version of a run's request as the transaction has left it.
func VersionNow(ctx context.Context, tx *op.Tx, run *ent.AgentRun) (string, error) {
	r, err := tx.Request.Get(tx.Unfiltered(ctx, "the request as the agent has changed it"), run.RequestID)
	if err != nil {
		return "", fmt.Errorf("read the request: %w", err)
	}
	return RequestVersion(r)
}

// TaskVersion returns the version that the completion of a task depends on: whether the task is open. The assignee is not part of
// it, because a proposal is for any person who gets the task.
func TaskVersion(t *ent.Task) string {
	return DigestOf("task", t.ID, nil, fmt.Sprint(lifecycle.TaskOpen(t.Status)))
}

// DigestOf returns the digest that a person approves: of the operation, its row and arguments, and the row's version.
func DigestOf(operation, requestID string, arguments json.RawMessage, version string) string {
	sum := sha256.Sum256([]byte(operation + "\n" + requestID + "\n" + string(arguments) + "\n" + version))
	return hex.EncodeToString(sum[:])
}
