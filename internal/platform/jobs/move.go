package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"github.com/riverqueue/river"

	"atrium/internal/platform/store"
)

// Moved is an unfinished job that moves to another installation. There it gets all of its attempts.
type Moved struct {
	Kind        string          `json:"kind"`
	Queue       string          `json:"queue"`
	Priority    int             `json:"priority"`
	MaxAttempts int             `json:"maxAttempts"`
	At          time.Time       `json:"at,omitzero"` // when it is due, in the product's time; the zero time means at once
	Args        json.RawMessage `json:"args"`
}

// Company returns the company that the job's arguments name; empty if they name none, or may name another one: workers read "Company"
// as "company", and PostgreSQL changes the order of keys.
func (m Moved) Company() (id string) {
	var args map[string]json.RawMessage
	if json.Unmarshal(m.Args, &args) != nil {
		return ""
	}
	for key := range args {
		if key != "company" && strings.EqualFold(key, "company") {
			return ""
		}
	}
	if json.Unmarshal(args["company"], &id) != nil {
		return ""
	}
	return id
}

// Unfinished calls fn for each unfinished job of two companies, in the order of insertion.
func Unfinished(ctx context.Context, s *store.Store, rows store.Rows, companies [2]string, fn func(Moved) error) (err error) {
	args := "json(args)"
	if s.Dialect() == dialect.Postgres {
		args = "args::text"
	}
	found, err := rows(ctx, fmt.Sprintf(selectUnfinished, args), companies[0], companies[1])
	if err != nil {
		return fmt.Errorf("read jobs: %w", err)
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	now := time.Now()
	for found.Next() {
		var m Moved
		if err := found.Scan(&m.Kind, &m.Queue, &m.Priority, &m.MaxAttempts, &m.At, (*[]byte)(&m.Args)); err != nil {
			return fmt.Errorf("read jobs: %w", err)
		}
		if m.At.After(now) {
			m.At = m.At.Add(s.Clock().Offset()).UTC()
		} else {
			m.At = time.Time{}
		}
		if err := fn(m); err != nil {
			return err
		}
	}
	return found.Err()
}

// InsertMoved adds jobs that were moved here.
func (q *Queue) InsertMoved(ctx context.Context, tx *store.Tx, list ...Moved) error {
	moved := make([]Job, len(list))
	for i, m := range list {
		moved[i] = Job{Args: movedArgs{m}, At: m.At}
	}
	return q.InsertManyTx(ctx, tx, moved...)
}

// movedArgs stands for the arguments of a moved job, whose type only its package knows.
type movedArgs struct{ job Moved }

func (a movedArgs) Kind() string { return a.job.Kind }

func (a movedArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: a.job.Queue, Priority: a.job.Priority, MaxAttempts: a.job.MaxAttempts}
}

func (a movedArgs) MarshalJSON() ([]byte, error) { return a.job.Args, nil }
