package feed

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"atrium/ent/agentrun"
	"atrium/ent/auditentry"
	"atrium/ent/comment"
	"atrium/ent/execution"
	"atrium/ent/notification"
	"atrium/ent/task"
	"atrium/ent/webhookdelivery"
	"atrium/internal/platform/id"
	"atrium/internal/platform/store"
)

// Kind is the kind of row that a change is about.
type Kind int

// The kinds.
const (
	Requests      Kind = iota // ParentID is empty
	Deliveries                // of webhooks; ParentID is the webhook subscription
	Notifications             // new ones; ParentID is the recipient
	Executions                // ParentID is empty
	Tasks                     // ParentID is empty
	AgentRuns                 // ParentID is empty
	AuditEntries              // new ones; ParentID is empty
	kinds
)

// Change says that a row changed.
type Change struct {
	CompanyID string
	ID        string // of the row
	ParentID  string // of the row's parent, for kinds that have one
	Created   bool   // the row is new to the watcher; otherwise it was changed
	Internal  bool   // only an internal comment was added or changed
}

// source says how the changes of a kind are found.
type source struct {
	name string
	// clock returns the time of the clock that the rows are ordered by.
	clock func(*store.Store) time.Time
	// read returns at most limit changes after a position, in order. It may leave out companies that are not in companies; when
	// companies is empty, it returns the changes of all.
	read func(ctx context.Context, db dialect.Driver, after position, companies []string, limit int) ([]found, error)
}

// sources holds the source of each kind.
var sources = [kinds]source{
	Requests:   {"request", machineTime, readRequests},
	Deliveries: {"webhook_delivery", productTime, readDeliveries},

	Notifications: {"notification", machineTime, readNotifications},

	Executions: {"execution", productTime, readExecutions},
	Tasks:      {"task", productTime, readTasks},
	AgentRuns:  {"agent_run", productTime, readAgentRuns},

	AuditEntries: {"audit_entry", machineTime, readAuditEntries},
}

// machineTime returns the time of the machine, which ids contain, whatever the product's clock says.
func machineTime(*store.Store) time.Time { return time.Now() }

// productTime returns the time of the product's clock, which time columns contain.
func productTime(s *store.Store) time.Time { return s.Clock().Now() }

// position is a position in the order of a kind.
type position struct {
	at time.Time
	id string // empty: before all rows of that time
}

// found is a change with its position and a key that is unique to the change.
type found struct {
	Change
	position
	key string
}

// readRequests finds changes of requests and of their comments in the audit log: each change writes an entry in its own
// transaction. Entries are ordered by id, and ids contain the time of the machine that made them.
func readRequests(ctx context.Context, db dialect.Driver, after position, companies []string, limit int) ([]found, error) {
	if after.id == "" {
		after.id = id.From("aud", after.at)
	}
	d := sql.Dialect(db.Dialect())
	t, c := d.Table(auditentry.Table), d.Table(comment.Table).As("c")
	said := sql.And(sql.EQ(t.C(auditentry.FieldResourceType), "Comment"), sql.ColumnsEQ(c.C(comment.FieldID), t.C(auditentry.FieldResourceID)))
	filed := sql.And(unindexed(t.C(auditentry.FieldResourceType), "Request"), sql.NotNull(t.C(auditentry.FieldResourceID)))
	query, args := d.Select(t.C(auditentry.FieldID), t.C(auditentry.FieldCompanyID), t.C(auditentry.FieldResourceID),
		t.C(auditentry.FieldAction), c.C(comment.FieldRequestID), c.C(comment.FieldVisibility)).From(t).
		LeftJoin(c).OnP(said).
		Where(sql.And(
			sql.GT(t.C(auditentry.FieldID), after.id),
			sql.Or(filed, sql.NotNull(c.C(comment.FieldID))),
			unindexed(t.C(auditentry.FieldOutcome), string(auditentry.OutcomeAllowed)),
			among(t.C(auditentry.FieldCompanyID), companies),
		)).
		OrderBy(t.C(auditentry.FieldID)).Limit(limit).Query()
	return scan(ctx, db, query, args, func(rows *sql.Rows) (found, error) {
		var f found
		var action string
		var commented, visibility *string
		err := rows.Scan(&f.position.id, &f.CompanyID, &f.Change.ID, &action, &commented, &visibility)
		f.key, f.Created = f.position.id, action == "request.created"
		if commented != nil {
			f.Change.ID, f.Internal = *commented, *visibility == string(comment.VisibilityInternal)
		}
		return f, err
	})
}

// readDeliveries finds changes of deliveries by updated_at, a time of the product's clock.
func readDeliveries(ctx context.Context, db dialect.Driver, after position, companies []string, limit int) ([]found, error) {
	d := sql.Dialect(db.Dialect())
	t := d.Table(webhookdelivery.Table)
	query, args := d.Select(t.C(webhookdelivery.FieldID), t.C(webhookdelivery.FieldCompanyID), t.C(webhookdelivery.FieldSubscriptionID),
		t.C(webhookdelivery.FieldUpdatedAt), t.C(webhookdelivery.FieldOutcome), t.C(webhookdelivery.FieldRetryCount)).
		AppendSelectExpr(sql.Raw(t.C(webhookdelivery.FieldAttempts)+" IS NULL")).From(t).
		Where(sql.And(
			sql.CompositeGT([]string{t.C(webhookdelivery.FieldUpdatedAt), t.C(webhookdelivery.FieldID)}, after.at.UTC(), after.id),
			among(t.C(webhookdelivery.FieldCompanyID), companies),
		)).
		OrderBy(t.C(webhookdelivery.FieldUpdatedAt), t.C(webhookdelivery.FieldID)).Limit(limit).Query()
	return scan(ctx, db, query, args, func(rows *sql.Rows) (found, error) {
		var f found
		var outcome string
		var retries int
		err := rows.Scan(&f.Change.ID, &f.CompanyID, &f.ParentID, &f.at, &outcome, &retries, &f.Created)
		f.position.id = f.Change.ID
		f.key = fmt.Sprintf("%s %d %s %d %t", f.Change.ID, f.at.UnixMilli(), outcome, retries, f.Created)
		return f, err
	})
}

// readNotifications finds new notifications by their ids, which contain the time of the machine that made them.
func readNotifications(ctx context.Context, db dialect.Driver, after position, companies []string, limit int) ([]found, error) {
	if after.id == "" {
		after.id = id.From("ntf", after.at)
	}
	d := sql.Dialect(db.Dialect())
	t := d.Table(notification.Table)
	query, args := d.Select(t.C(notification.FieldID), t.C(notification.FieldCompanyID), t.C(notification.FieldUserID)).From(t).
		Where(sql.And(sql.GT(t.C(notification.FieldID), after.id), among(t.C(notification.FieldCompanyID), companies))).
		OrderBy(t.C(notification.FieldID)).Limit(limit).Query()
	return scan(ctx, db, query, args, func(rows *sql.Rows) (found, error) {
		var f found
		err := rows.Scan(&f.Change.ID, &f.CompanyID, &f.ParentID)
		f.position.id, f.key, f.Created = f.Change.ID, f.Change.ID, true
		return f, err
	})
}

// readAuditEntries finds new entries by their ids. That an entry is sealed or erased is no event.
func readAuditEntries(ctx context.Context, db dialect.Driver, after position, companies []string, limit int) ([]found, error) {
	if after.id == "" {
		after.id = id.From("aud", after.at)
	}
	d := sql.Dialect(db.Dialect())
	t := d.Table(auditentry.Table)
	query, args := d.Select(t.C(auditentry.FieldID), t.C(auditentry.FieldCompanyID)).From(t).
		Where(sql.And(sql.GT(t.C(auditentry.FieldID), after.id), among(t.C(auditentry.FieldCompanyID), companies))).
		OrderBy(t.C(auditentry.FieldID)).Limit(limit).Query()
	return scan(ctx, db, query, args, func(rows *sql.Rows) (found, error) {
		var f found
		err := rows.Scan(&f.Change.ID, &f.CompanyID)
		f.position.id, f.key, f.Created = f.Change.ID, f.Change.ID, true
		return f, err
	})
}

// readExecutions finds changes of executions. Each commit increments the revision of the execution.
func readExecutions(ctx context.Context, db dialect.Driver, after position, companies []string, limit int) ([]found, error) {
	return readUpdated(ctx, db, execution.Table, []string{execution.FieldRevision}, after, companies, limit)
}

// readTasks finds changes of tasks. Two changes of a task in the same millisecond are told apart by the columns that people
// change.
func readTasks(ctx context.Context, db dialect.Driver, after position, companies []string, limit int) ([]found, error) {
	return readUpdated(ctx, db, task.Table, []string{task.FieldStatus, task.FieldAssigneeID, task.FieldTeamID, task.FieldSLAState}, after, companies, limit)
}

// readAgentRuns finds changes of agent runs.
func readAgentRuns(ctx context.Context, db dialect.Driver, after position, companies []string, limit int) ([]found, error) {
	return readUpdated(ctx, db, agentrun.Table, []string{agentrun.FieldStatus, agentrun.FieldPlans}, after, companies, limit)
}

// readUpdated finds changes by updated_at, a time of the product's clock. versions are the columns that distinguish two changes
// of a row with the same updated_at.
func readUpdated(ctx context.Context, db dialect.Driver, table string, versions []string, after position, companies []string, limit int) ([]found, error) {
	d := sql.Dialect(db.Dialect())
	t := d.Table(table)
	texts := make([]sql.Querier, len(versions))
	for i, v := range versions {
		texts[i] = sql.Raw("CAST(" + t.C(v) + " AS text)")
	}
	query, args := d.Select(t.C("id"), t.C("company_id"), t.C("created_at"), t.C("updated_at")).AppendSelectExpr(texts...).From(t).
		Where(sql.And(
			sql.CompositeGT([]string{t.C("updated_at"), t.C("id")}, after.at.UTC(), after.id),
			among(t.C("company_id"), companies),
		)).
		OrderBy(t.C("updated_at"), t.C("id")).Limit(limit).Query()
	return scan(ctx, db, query, args, func(rows *sql.Rows) (found, error) {
		var f found
		var created time.Time
		values := make([]*string, len(versions))
		into := []any{&f.Change.ID, &f.CompanyID, &created, &f.at}
		for i := range values {
			into = append(into, &values[i])
		}
		err := rows.Scan(into...)
		f.position.id, f.Created = f.Change.ID, created.Equal(f.at)
		f.key = fmt.Sprintf("%s %d", f.Change.ID, f.at.UnixMilli())
		for _, v := range values {
			f.key += " "
			if v != nil {
				f.key += *v
			}
		}
		return f, err
	})
}

// unindexed compares a column in a way that no index on it can serve. So the planner reads along the requested order, which is
// short, and not through the whole history of a company.
func unindexed(column, value string) *sql.Predicate {
	return sql.P(func(b *sql.Builder) { b.WriteString(column + " || '' = ").Arg(value) })
}

// maxNamed is the maximum number of companies that a statement names.
const maxNamed = 64

// among limits a column to the watched companies, without using an index. It does not limit it when there are more than
// maxNamed.
func among(column string, companies []string) *sql.Predicate {
	if len(companies) == 0 || len(companies) > maxNamed {
		return sql.P(func(b *sql.Builder) { b.WriteString("1 = 1") })
	}
	args := make([]any, 0, 2*len(companies))
	for _, c := range companies {
		args = append(args, c)
	}
	return sql.P(func(b *sql.Builder) {
		b.WriteString(column + " || '' IN (").Args(args...).WriteString(")")
	})
}

// scan reads all rows of a query.
func scan(ctx context.Context, db dialect.Driver, query string, args []any, one func(*sql.Rows) (found, error)) (list []found, err error) {
	var rows sql.Rows
	if err := db.Query(ctx, query, args, &rows); err != nil {
		return nil, fmt.Errorf("look for changes: %w", err)
	}
	defer func() {
		if cerr := rows.Close(); cerr != nil && err == nil {
			err = fmt.Errorf("look for changes: %w", cerr)
		}
	}()
	for rows.Next() {
		f, err := one(&rows)
		if err != nil {
			return nil, fmt.Errorf("look for changes: %w", err)
		}
		list = append(list, f)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for changes: %w", err)
	}
	return list, nil
}
