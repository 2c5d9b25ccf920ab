package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"atrium/ent/setting"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/platform/strictjson"
)

// maxClock limits how far a development clock may run ahead: 100 years.
const maxClock = 100 * 365 * 24 * time.Hour

// errTooFar is returned for a move beyond maxClock.
var errTooFar = errors.New("the clock runs at most 100 years ahead")

// moveClock moves the product's time forward and answers when the jobs that became due have run.
func (s *server) moveClock(w http.ResponseWriter, r *http.Request) {
	by, err := readAdvance(http.MaxBytesReader(w, r.Body, 1<<10))
	if err != nil {
		writeJSON(w, http.StatusBadRequest, "error", `send {"advance": "30m"}: a positive duration`)
		return
	}
	due, err := s.advance(r.Context(), by)
	switch {
	case errors.Is(err, errTooFar):
		writeJSON(w, http.StatusBadRequest, "error", err.Error())
	case err != nil:
		s.log.ErrorContext(r.Context(), "the clock was not moved", "error", err)
		writeJSON(w, http.StatusInternalServerError, "error", "the clock was not moved")
	case due > 0:
		writeJSON(w, http.StatusGatewayTimeout, "error", fmt.Sprintf("the clock was moved, but %d jobs that are due have not run", due))
	default:
		writeJSON(w, http.StatusOK, "now", s.clock.Now().Format(time.RFC3339))
	}
}

// readAdvance parses the body: the duration by which to move the clock.
func readAdvance(body io.Reader) (time.Duration, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return 0, fmt.Errorf("read the body: %w", err)
	}
	if err := strictjson.Check(raw); err != nil {
		return 0, err
	}
	var in map[string]string // unlike a struct's, a map's keys are not folded
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&in); err != nil {
		return 0, fmt.Errorf("read the body: %w", err)
	}
	by, err := time.ParseDuration(in["advance"])
	if err != nil || by <= 0 || len(in) != 1 {
		return 0, errors.New("not a positive duration")
	}
	return by, nil
}

// advance adds to the offset, which is stored in the database, and moves the times of the jobs. Returns how many due jobs had not
// run when it stopped waiting.
func (s *server) advance(ctx context.Context, by time.Duration) (due int, err error) {
	sys := principal.System(ctx, "the development clock belongs to the installation")
	var offset time.Duration
	err = s.store.Write(sys, func(ctx context.Context, tx *store.Tx) error {
		rows, err := tx.Setting.Query().Where(setting.ID(settingClock)).All(ctx)
		if err != nil {
			return fmt.Errorf("read the clock: %w", err)
		}
		offset = 0
		if len(rows) > 0 {
			if offset, err = time.ParseDuration(rows[0].Value); err != nil {
				return fmt.Errorf("read the clock: %w", err)
			}
		}
		if by > maxClock-offset {
			return errTooFar
		}
		offset += by
		if len(rows) > 0 {
			err = tx.Setting.UpdateOne(rows[0]).SetValue(offset.String()).Exec(ctx)
		} else {
			err = tx.Setting.Create().SetID(settingClock).SetValue(offset.String()).Exec(ctx)
		}
		if err != nil {
			return fmt.Errorf("write the clock: %w", err)
		}
		if err := s.workers.Advance(ctx, tx, by); err != nil {
			return err
		}
		s.moveTo(offset) // before the commit, because a worker may take a job as soon as it is committed as due
		return nil
	})
	if err != nil {
		return 0, err
	}
	return s.awaitDueJobs(ctx)
}

// awaitDueJobs waits until no job is due or running, for at most ten seconds more than a job may take whose worker sets no limit of
// its own. It returns how many are left.
func (s *server) awaitDueJobs(ctx context.Context) (int, error) {
	deadline := time.Now().Add(jobs.Timeout + 10*time.Second)
	for {
		due, err := s.workers.Due(ctx)
		if due == 0 || err != nil || time.Now().After(deadline) {
			return due, err
		}
		select {
		case <-ctx.Done():
			return due, ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// followClock polls the offset every second and adopts what another node has set.
func (s *server) followClock(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := s.readClock(ctx); err != nil {
				s.log.WarnContext(ctx, "the development clock could not be read", "error", err)
			}
		}
	}
}

// readClock sets the product's time to the stored offset.
func (c *core) readClock(ctx context.Context) error {
	value, err := c.setting(ctx, settingClock)
	if err != nil || value == "" {
		return err
	}
	offset, err := time.ParseDuration(value)
	if err != nil {
		return fmt.Errorf("read the development clock: %w", err)
	}
	c.moveTo(offset)
	return nil
}

// moveTo sets how far the product's time runs ahead. It never moves back, so the order of concurrent calls does not matter.
func (c *core) moveTo(offset time.Duration) {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	if offset > c.clock.Offset() {
		c.clock.SetOffset(offset)
	}
}
