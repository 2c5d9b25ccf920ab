package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"time"

	"entgo.io/ent/dialect"

	"atrium/internal/agent"
	"atrium/internal/notify/mail"
	"atrium/internal/op/audit/merkle"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
)

// Limits for the checks of a running installation.
const (
	leastFree   = 1 << 30 // free bytes on the disk of the data folder
	mostSkew    = 5 * time.Second
	mostLag     = time.Minute     // of the audit log's sealer, which looks every two seconds
	mostWaiting = 5 * time.Minute // how long a job may be overdue
	reachable   = 5 * time.Second
)

// checkRunning checks what runs out or falls behind while the server runs.
func (m *doctorCmd) checkRunning(ctx context.Context, report func(string, error), s *store.Store) {
	if s.Dialect() == dialect.Postgres {
		report("clock agrees with the database's", sameTime(ctx, s))
	} else {
		report("disk has room", hasRoom(m.Data))
	}
	report("audit log is sealed", m.sealed(ctx, s))
	report("jobs are worked", m.worked(ctx, s))
}

// checkOutside checks the connections to the servers that the flags name.
func (m *doctorCmd) checkOutside(ctx context.Context, report func(string, error)) {
	if m.RedisURL != "" {
		report("Redis answers", redisAnswers(ctx, m.RedisURL))
	}
	if m.SMTPURL != "" {
		report("mail server answers", mailAnswers(ctx, m.SMTPURL))
	}
}

// hasRoom returns an error for a disk that is nearly full: SQLite needs room for the write-ahead log.
func hasRoom(dir string) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return err
	}
	if free := fs.Bavail * uint64(fs.Bsize); free < leastFree {
		return fmt.Errorf("%d MiB are free, and should be 1 GiB", free>>20)
	}
	return nil
}

// sameTime returns an error when this machine's clock and the database's differ by more than mostSkew. On SQLite they are the
// same.
func sameTime(ctx context.Context, s *store.Store) error {
	if s.Dialect() == dialect.SQLite {
		return nil
	}
	skew, err := skewOf(ctx, s)
	if err == nil && skew > mostSkew {
		err = fmt.Errorf("they differ by %s, and may by %s: keep both in time by NTP", skew.Round(time.Millisecond), mostSkew)
	}
	return err
}

// skewOf returns by how much this machine's clock and PostgreSQL's differ.
func skewOf(ctx context.Context, s *store.Store) (time.Duration, error) {
	began := time.Now()
	var there time.Time
	if err := s.Pool().QueryRow(ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		return 0, fmt.Errorf("ask for the time: %w", err)
	}
	return there.Sub(began.Add(time.Since(began) / 2)).Abs(), nil
}

// sealed returns an error when audit entries wait too long to be sealed into the log.
func (m *doctorCmd) sealed(ctx context.Context, s *store.Store) error {
	lag, err := merkle.NewSealer(s, slog.New(slog.DiscardHandler)).Lag(ctx, s.Clock().Now())
	if err == nil && lag > mostLag {
		err = fmt.Errorf("an entry has waited for %s: does a node with --role all or worker run?", lag.Round(time.Second))
	}
	return err
}

// worked returns an error when a job is overdue by more than mostWaiting. With --no-agents, the jobs of agents are to wait.
func (m *doctorCmd) worked(ctx context.Context, s *store.Store) error {
	q, err := jobs.New(s, slog.New(slog.DiscardHandler), false)
	if err != nil {
		return err
	}
	var queues []string
	if m.NoAgents {
		queues = agent.Queues
	}
	return s.Write(principal.System(ctx, "jobs belong to the installation"), func(ctx context.Context, tx *store.Tx) error {
		kind, waits, err := q.Oldest(ctx, tx, queues...)
		if err == nil && waits > mostWaiting {
			err = fmt.Errorf("a job of the kind %s has waited for %s: does a node with --role all or worker run?", kind, waits.Round(time.Second))
		}
		return err
	})
}

func redisAnswers(ctx context.Context, address string) (err error) {
	client, err := ratelimit.OpenRedis(address, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, reachable)
	defer cancel()
	return client.Ping(ctx).Err()
}

// mailAnswers connects to the mail server and sends nothing.
func mailAnswers(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, reachable)
	defer cancel()
	return mail.Reach(ctx, address)
}
