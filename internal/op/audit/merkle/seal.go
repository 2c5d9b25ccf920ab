package merkle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"golang.org/x/mod/sumdb/tlog"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/auditleaf"
	entcompany "atrium/ent/company"
	"atrium/ent/predicate"
	"atrium/ent/rowcount"
	"atrium/internal/op/audit"
	"atrium/internal/platform/id"
	"atrium/internal/platform/store"
)

const (
	lookEvery  = 2 * time.Second
	lookBack   = 4 * time.Second  // how far back an ordinary look goes
	lookDeep   = time.Minute      // how far back one look in four goes: twice as long as a transaction may last, because clocks may differ
	countEvery = 10 * time.Minute // how often entries and leaves are counted
	sealBatch  = 500              // leaves that one transaction adds at most, so that none holds SQLite's writer for long
)

// Sealer gives audit entries their index in the logs. Several sealers may work on one database.
type Sealer struct {
	store *store.Store
	log   *slog.Logger
}

// NewSealer returns a sealer for a database.
func NewSealer(s *store.Store, log *slog.Logger) *Sealer { return &Sealer{store: s, log: log} }

// Run seals entries until the context ends. The count has a goroutine of its own, because it may find more to seal than new entries
// can wait for.
func (s *Sealer) Run(ctx context.Context) error {
	var counting sync.WaitGroup
	counting.Go(func() { s.every(ctx, countEvery, s.SealAll) })
	n := 0
	s.every(ctx, lookEvery, func(ctx context.Context) error {
		back := lookBack
		if n++; n%4 == 0 {
			back = lookDeep
		}
		return s.since(ctx, time.Now().Add(-back))
	})
	counting.Wait()
	return nil
}

// every calls seal at intervals until the context ends. What fails is tried again soon.
func (s *Sealer) every(ctx context.Context, interval time.Duration, seal func(context.Context) error) {
	for ctx.Err() == nil {
		wait := interval
		if err := seal(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "audit entries wait for their places in the log", "error", err)
			wait = lookEvery
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// since seals the entries with an id from after t. Ids carry the time of the machine that made them.
func (s *Sealer) since(ctx context.Context, t time.Time) error {
	for {
		n, err := s.sealSome(ctx, s.inCommitOrder, auditentry.IDGT(id.From("aud", t)))
		if err != nil || n < sealBatch {
			return err
		}
	}
}

// SealAll seals every unsealed entry of the companies whose numbers of entries and leaves differ.
func (s *Sealer) SealAll(ctx context.Context) error {
	companies, err := s.behind(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, company := range companies {
		errs = append(errs, s.SealCompany(ctx, company))
	}
	return errors.Join(errs...)
}

// behind returns the companies whose numbers of entries and leaves differ. One statement, with two look-ups for each company, asks for
// all of them.
func (s *Sealer) behind(ctx context.Context) ([]string, error) {
	ids, err := s.store.Reader().Company.Query().Where(func(sel *sql.Selector) {
		id := sel.C(entcompany.FieldID)
		sel.Where(sql.ExprP("COALESCE((SELECT SUM(n) FROM " + rowcount.Table + " c WHERE c.company_id = " + id + " AND c.kind = 'audit'), 0) <> " + sizeOf(id)))
	}).IDs(system(ctx))
	if err != nil {
		return nil, fmt.Errorf("compare the numbers of entries and leaves: %w", err)
	}
	return ids, nil
}

// missing returns how many more entries than leaves a company has.
func (s *Sealer) missing(ctx context.Context, company string) (int64, error) {
	db := s.store.Reader()
	size, err := Size(ctx, db, company)
	if err != nil {
		return 0, err
	}
	shards, err := db.RowCount.Query().Where(rowcount.CompanyID(company), rowcount.Kind("audit")).All(system(ctx))
	if err != nil {
		return 0, fmt.Errorf("count the entries: %w", err)
	}
	entries := int64(0)
	for _, shard := range shards {
		entries += shard.N
	}
	return entries - size, nil
}

// SealCompany seals every unsealed entry of a company. It does nothing when the numbers of entries and leaves are equal.
func (s *Sealer) SealCompany(ctx context.Context, company string) error {
	if n, err := s.missing(ctx, company); err != nil || n == 0 {
		return err
	}
	// Read in the order of time, because when a log is introduced late, all entries are older than it.
	var at time.Time
	var last string
	for {
		rows, err := s.unsealed(ctx, byTime, auditentry.CompanyID(company), auditentry.CreatedAtGTE(at),
			auditentry.Or(auditentry.CreatedAtGT(at), auditentry.IDGT(last)))
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := s.seal(ctx, rows); err != nil {
			return err
		}
		at, last = rows[len(rows)-1].CreatedAt, rows[len(rows)-1].ID
	}
}

// lagWithin is how old unsealed entries are as a rule, at most.
const lagWithin = time.Hour

// Lag returns how long the oldest unsealed entry has waited; zero when all are sealed. It searches all entries of a company only if
// the numbers say that entries older than an hour are unsealed, such as those of a company that was moved here.
func (s *Sealer) Lag(ctx context.Context, now time.Time) (time.Duration, error) {
	companies, err := s.behind(ctx)
	if err != nil {
		return 0, err
	}
	missing := int64(0)
	for _, company := range companies {
		n, err := s.missing(ctx, company)
		if err != nil {
			return 0, err
		}
		missing += n
	}
	where := auditentry.IDGT(id.From("aud", now.Add(-lagWithin)))
	recent, err := s.store.Reader().AuditEntry.Query().Where(where, withoutLeaf).Count(system(ctx))
	if err != nil {
		return 0, fmt.Errorf("count the entries without a place: %w", err)
	}
	if missing > int64(recent) {
		where = auditentry.CompanyIDIn(companies[:min(len(companies), readBatch)]...)
	}
	row, err := s.store.Reader().AuditEntry.Query().Where(where, withoutLeaf).
		Order(auditentry.OrderOption(byTime)).Select(auditentry.FieldID, auditentry.FieldCreatedAt).First(system(ctx))
	if ent.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for entries without a place: %w", err)
	}
	return now.Sub(row.CreatedAt), nil
}

// order is the order in which unsealed entries are sealed.
type order func(*sql.Selector)

func byTime(s *sql.Selector) {
	s.OrderBy(s.C(auditentry.FieldCreatedAt), s.C(auditentry.FieldID))
}

// inCommitOrder orders by what the database knows about the order of commits. Ids, and so times, come second, because the
// clocks of nodes differ.
func (s *Sealer) inCommitOrder(sel *sql.Selector) {
	if s.store.Dialect() == dialect.Postgres {
		sel.OrderExpr(sql.Raw("age(" + sel.C("xmin") + ") DESC"))
	} else {
		sel.OrderExpr(sql.Raw("+" + sel.C("rowid"))) // the plus sign keeps SQLite from scanning the whole table in this order
	}
	sel.OrderBy(sel.C(auditentry.FieldID))
}

// unsealed returns at most sealBatch entries without a leaf.
func (s *Sealer) unsealed(ctx context.Context, by order, where ...predicate.AuditEntry) ([]*ent.AuditEntry, error) {
	rows, err := s.store.Reader().AuditEntry.Query().Where(append(where, withoutLeaf)...).
		Order(auditentry.OrderOption(by)).Limit(sealBatch).
		Select(auditentry.FieldID, auditentry.FieldCompanyID, auditentry.FieldCreatedAt, auditentry.FieldLeafHash).All(system(ctx))
	if err != nil {
		return nil, fmt.Errorf("look for entries without a place: %w", err)
	}
	return rows, nil
}

// withoutLeaf selects the entries that are not sealed.
func withoutLeaf(s *sql.Selector) {
	t := sql.Table(auditleaf.Table)
	s.Where(sql.NotExists(sql.Select(t.C(auditleaf.FieldID)).From(t).Where(sql.ColumnsEQ(t.C(auditleaf.FieldID), s.C(auditentry.FieldID)))))
}

func (s *Sealer) sealSome(ctx context.Context, by order, where ...predicate.AuditEntry) (int, error) {
	rows, err := s.unsealed(ctx, by, where...)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return len(rows), s.seal(ctx, rows)
}

// seal appends entries to the logs of their companies in the given order. A company whose log cannot be continued does not keep
// the others from theirs.
func (s *Sealer) seal(ctx context.Context, rows []*ent.AuditEntry) error {
	var broken []error
	err := s.store.Write(system(ctx), func(ctx context.Context, tx *store.Tx) error {
		if err := tx.LockName(ctx, "audit/seal"); err != nil {
			return err
		}
		fresh, err := stillUnsealed(ctx, tx.Client, rows)
		if err != nil {
			return err
		}
		var leaves []*ent.AuditLeafCreate
		broken = nil // of an earlier attempt of the transaction
		for _, company := range companiesOf(fresh) {
			made, err := leavesOf(ctx, tx.Client, company, fresh)
			if err != nil {
				broken = append(broken, fmt.Errorf("seal audit entries of %s: %w", company, err))
				continue
			}
			leaves = append(leaves, made...)
		}
		return tx.AuditLeaf.CreateBulk(leaves...).Exec(ctx)
	})
	if err != nil {
		return fmt.Errorf("seal audit entries: %w", err)
	}
	return errors.Join(broken...)
}

// leavesOf returns the builders of the leaves of one company's entries.
func leavesOf(ctx context.Context, db *ent.Client, company string, rows []*ent.AuditEntry) ([]*ent.AuditLeafCreate, error) {
	e, err := edgeOf(ctx, db, company)
	if err != nil {
		return nil, err
	}
	var leaves []*ent.AuditLeafCreate
	for _, row := range rows {
		if row.CompanyID != company {
			continue
		}
		h, err := hashOf(ctx, db, row)
		if err != nil {
			return nil, err
		}
		index := e.size
		leaves = append(leaves, db.AuditLeaf.Create().SetID(row.ID).SetCompanyID(company).SetIndex(index).SetHashes(pack(index, e.add(h))))
	}
	return leaves, nil
}

// stillUnsealed returns the entries that no other sealer has sealed meanwhile.
func stillUnsealed(ctx context.Context, db *ent.Client, rows []*ent.AuditEntry) ([]*ent.AuditEntry, error) {
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	sealed, err := db.AuditLeaf.Query().Where(auditleaf.IDIn(ids...)).IDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for leaves: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r *ent.AuditEntry) bool { return slices.Contains(sealed, r.ID) }), nil
}

func companiesOf(rows []*ent.AuditEntry) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.CompanyID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hashOf returns the hash of an entry's leaf. An entry from before this log existed gets its salts and its hash here.
func hashOf(ctx context.Context, db *ent.Client, row *ent.AuditEntry) (h tlog.Hash, err error) {
	if len(row.LeafHash) == tlog.HashSize {
		copy(h[:], row.LeafHash)
		return h, nil
	}
	if row, err = db.AuditEntry.Get(ctx, row.ID); err != nil {
		return h, fmt.Errorf("read an entry: %w", err)
	}
	row.ActorSeal, row.ChangesSeal = audit.NewSalt(), audit.NewSalt()
	if h, err = audit.Hash(row); err != nil {
		return h, err
	}
	err = db.AuditEntry.UpdateOneID(row.ID).SetActorSeal(row.ActorSeal).SetChangesSeal(row.ChangesSeal).SetLeafHash(h[:]).Exec(ctx)
	if err != nil {
		return h, fmt.Errorf("give an old entry its leaf: %w", err)
	}
	return h, nil
}
