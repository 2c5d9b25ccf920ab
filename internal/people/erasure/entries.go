package erasure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/company"
	"atrium/ent/predicate"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
)

const (
	entriesAtOnce = 500 // per transaction
	aboutAtOnce   = 300 // ids per query
	retainEvery   = 24 * time.Hour
)

// Work registers the jobs that erase people, and daily the audit entries that are past their retention.
func Work(e *op.Engine) jobs.Option {
	return jobs.All(jobs.Work(&eraser{engine: e}), jobs.Work(&retainer{engine: e}), jobs.Every(retainEvery, RetainArgs{}))
}

// audit erases the actor in the entries of what the person did, and the changes in entries about rows that were the person's. The
// entry that records the erasure and its reason keeps its changes.
func (p *person) audit(ctx context.Context) error {
	own := append([]string{p.User}, p.keys...)
	theirs := func(e *ent.AuditEntry) audit.Parts {
		return audit.Parts{Actor: slices.Contains(own, e.ActorID), Changes: e.Action != Erased}
	}
	e := audit.Entry{Resource: "User", ResourceID: p.User}
	err := eraseEntries(ctx, p.engine, p.Company, e, theirs, auditentry.ActorIDIn(own...))
	for ids := range slices.Chunk(p.about, aboutAtOnce) {
		if err == nil {
			err = eraseEntries(ctx, p.engine, p.Company, e, theirs, auditentry.ResourceIDIn(ids...))
		}
	}
	return err
}

// eraseEntries erases parts of a company's audit entries in batches. Each batch adds an audit entry about the resource of e.
func eraseEntries(ctx context.Context, eng *op.Engine, companyID string, e audit.Entry, which func(*ent.AuditEntry) audit.Parts, where ...predicate.AuditEntry) error {
	for after := ""; ; {
		var rows []*ent.AuditEntry
		err := eng.Work(ctx, companyID, worker, func(ctx context.Context, tx *op.Tx) (err error) {
			rows, err = tx.AuditEntry.Query().Where(where...).Where(auditentry.IDGT(after), hasValues).Order(auditentry.ByID()).Limit(entriesAtOnce).All(ctx)
			if err != nil {
				return fmt.Errorf("look for audit entries: %w", err)
			}
			by := audit.By(tx.Principal())
			by.Resource, by.ResourceID = e.Resource, e.ResourceID
			_, err = audit.Erase(ctx, tx.Client, by, rows, which)
			return err
		})
		if err != nil || len(rows) < entriesAtOnce {
			return err
		}
		after = rows[len(rows)-1].ID
	}
}

// hasValues selects the entries that still have a part to erase.
func hasValues(s *sql.Selector) {
	s.Where(sql.ExprP(fmt.Sprintf("(length(%s) = %d OR length(%s) = %[2]d)", s.C(auditentry.FieldActorSeal), audit.SaltSize, s.C(auditentry.FieldChangesSeal))))
}

// RetainArgs is the job that erases the values of audit entries that are older than their companies' retention.
type RetainArgs struct{}

// Kind names the job.
func (RetainArgs) Kind() string { return "retain_audit" }

type retainer struct {
	river.WorkerDefaults[RetainArgs]
	engine *op.Engine
}

// Timeout is longer than River's default: a retention that is set for the first time may apply to years of entries.
func (*retainer) Timeout(*river.Job[RetainArgs]) time.Duration { return timeout }

// Work erases old entries in each company that has a retention. A sandbox is a company of its own.
func (w *retainer) Work(ctx context.Context, _ *river.Job[RetainArgs]) error {
	rows, err := w.engine.Store.Reader().Company.Query().Where(company.AuditDaysNotNil()).
		All(principal.System(ctx, "entries of all companies grow old"))
	if err != nil {
		return fmt.Errorf("look for companies that keep values for a time: %w", err)
	}
	var errs []error // an error in one company does not stop the others
	for _, c := range rows {
		before := w.engine.Store.Clock().Now().AddDate(0, 0, -*c.AuditDays)
		errs = append(errs, eraseEntries(ctx, w.engine, c.ID, audit.Entry{Resource: "Company", ResourceID: c.ID},
			func(*ent.AuditEntry) audit.Parts { return audit.Parts{Actor: true, Changes: true} }, auditentry.CreatedAtLT(before)))
	}
	return errors.Join(errs...)
}
