package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"atrium/ent/comment"
	"atrium/internal/agent/worker"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
)

// Change is one field that a write sets.
type Change struct {
	Field      string   `json:"field"`
	From       any      `json:"from"`
	To         any      `json:"to"`
	Rationale  string   `json:"rationale"`
	Confidence float64  `json:"confidence"`
	Rows       []string `json:"rows"`
}

// Write is a write that an engine decided on. It is not performed yet.
type Write struct {
	Tool       string          `json:"tool"`
	Arguments  json.RawMessage `json:"arguments"`
	Changes    []Change        `json:"changes"`
	Rationale  string          `json:"rationale"`
	Confidence float64         `json:"confidence"`
	Rows       []string        `json:"rows"`
	Waits      bool            `json:"waits,omitempty"` // needs an approval at any autonomy level, because of the tool's mode or an access policy
}

// SetChanges sets the changes of a write: the fields that its arguments set, with their current values.
func (w *Write) SetChanges(is map[string]any) error {
	var given map[string]any
	if err := json.Unmarshal(w.Arguments, &given); err != nil {
		return fmt.Errorf("read the arguments: %w", err)
	}
	w.Changes = []Change{}
	for _, field := range slices.Sorted(maps.Keys(given)) {
		w.Changes = append(w.Changes, Change{Field: field, From: is[field], To: given[field], Rationale: w.Rationale, Confidence: w.Confidence, Rows: w.Rows})
	}
	return nil
}

// Idle reports whether a write would leave the request as it is.
func (w *Write) Idle() bool {
	return (w.Tool == Update || w.Tool == Move) && !slices.ContainsFunc(w.Changes, func(c Change) bool {
		from, err := json.Marshal(c.From)
		to, err2 := json.Marshal(c.To)
		return err != nil || err2 != nil || !strictjson.Equal(from, to)
	})
}

// ErrIdle is the error of a write by which nothing would change.
func ErrIdle() error { return apperr.New(apperr.Conflict, "The request has these values already.") }

// OpinionOf returns the arguments of the comment that is an agent's opinion. Agents that may read internal comments write one.
func OpinionOf(self *principal.Principal, said string) (json.RawMessage, error) {
	values := map[string]any{"body": said}
	if self.Role != principal.Member {
		values["visibility"] = comment.VisibilityInternal
	}
	args, err := json.Marshal(values)
	return args, worker.Wrap("write the comment", err)
}

// SaidIn returns the text of an opinion in the arguments of createComment.
func SaidIn(arguments json.RawMessage) (string, error) {
	var in struct {
		Body string `json:"body"`
	}
	return in.Body, worker.Wrap("read the opinion", json.Unmarshal(arguments, &in))
}

// MaxRationale is the maximum number of characters of a rationale.
const MaxRationale = 500
