package reportmail

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/reportsubscription"
	"atrium/ent/user"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// maxSubscriptions is how many one person may have.
const maxSubscriptions = 10

var sorts = op.Sorts{
	"createdAt": reportsubscription.FieldCreatedAt, "updatedAt": reportsubscription.FieldUpdatedAt,
	"name": op.Alphabetical(reportsubscription.FieldName),
}

// The operations on subscriptions, all on the caller's own.
var (
	List = paging.NewList("reportsubscription.list", op.Spec{
		Resource: "ReportSubscription", Action: op.Read, Scope: "requests:read", Sorts: sorts, Summary: "List the reports that one gets by mail each week",
	}, func(_ context.Context, tx *op.Tx, _ ListInput) *ent.ReportSubscriptionQuery {
		return tx.ReportSubscription.Query().Where(reportsubscription.UserID(tx.Principal().ID))
	})

	Get = op.Get("reportsubscription.read", op.Spec{
		Resource: "ReportSubscription", Action: op.Read, Scope: "requests:read", Summary: "Get a report that one gets by mail each week",
	}, load)

	Create = op.New("reportsubscription.create", op.Spec{
		Resource: "ReportSubscription", Action: op.Create, Scope: "requests:write", Summary: "Have a report about requests mailed to oneself each week",
	}, create).WithCheck(func(_ context.Context, _ *op.Tx, in CreateInput) error {
		_, err := read(in.Query)
		return err
	})

	Update = op.OnRow("reportsubscription.update", op.Spec{
		Resource: "ReportSubscription", Action: op.Update, Scope: "requests:write", Summary: "Rename a report that one gets by mail each week",
	}, load, update)

	Delete = op.OnRow("reportsubscription.delete", op.Spec{
		Resource: "ReportSubscription", Action: op.Delete, Scope: "requests:write", Summary: "End the mails of a report",
	}, load, remove)
)

// load loads and locks one of the caller's own.
func load(ctx context.Context, tx *op.Tx, id string) (*ent.ReportSubscription, error) {
	own := reportsubscription.UserID(tx.Principal().ID)
	return op.Lock(tx, tx.ReportSubscription.Query().Where(reportsubscription.ID(id), own)).Only(ctx)
}

// ListInput pages the caller's own.
type ListInput struct{ paging.Page }

// CreateInput describes a new subscription.
type CreateInput struct {
	Name  string `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks" doc:"What its mails are called." example:"Service desk"`
	Query string `json:"query,omitempty" maxLength:"4096" doc:"The filters and groups of the report, as GET /v1/reports/requests takes them, such as teamId=tea_…&by=priority. Its time cannot be chosen: it is the week before." example:"priority=URGENT,HIGH&by=team"`
}

func create(ctx context.Context, tx *op.Tx, in CreateInput) (*ent.ReportSubscription, error) {
	me := tx.Principal()
	if me.Type != principal.TypeUser {
		return nil, apperr.New(apperr.Forbidden, "A report is mailed to a person, who asks for it.")
	}
	if _, err := read(in.Query); err != nil {
		return nil, err
	}
	full := apperr.New(apperr.Conflict, "You get %d reports by mail, which is as many as one may.", maxSubscriptions)
	count := tx.ReportSubscription.Query().Where(reportsubscription.UserID(me.ID)).Count
	if err := tx.AtMost(ctx, "reportsubscriptions/"+me.ID, maxSubscriptions, count, full); err != nil {
		return nil, err
	}
	all := tx.Unfiltered(ctx, "everybody knows themselves and their company")
	u, err := tx.User.Query().Where(user.ID(me.ID)).Only(all)
	if err != nil {
		return nil, fmt.Errorf("look the caller up: %w", err)
	}
	c, err := tx.Company.Get(all, me.CompanyID)
	if err != nil {
		return nil, fmt.Errorf("read the company: %w", err)
	}
	next, err := nextMonday(tx.Now(ctx), op.ReaderOf(u, c).Location())
	if err != nil {
		return nil, err
	}
	s, err := tx.ReportSubscription.Create().SetName(in.Name).SetQuery(in.Query).SetUserID(me.ID).SetNextAt(next).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the subscription: %w", err)
	}
	tx.Changed(nil, s)
	return s, wake(ctx, tx, s.CompanyID, s.ID, next)
}

// wake inserts the job of a subscription's next Monday.
func wake(ctx context.Context, tx *op.Tx, company, id string, at time.Time) error {
	return tx.Insert(ctx, Args{Company: company, ID: id, At: at}, at)
}

// fixed are the parameters of a report that a mail chooses.
var fixed = []string{"from", "to", "over", "timeZone"}

// read reads the query of a subscription as the input of its report, without its time. Returns validation_error, naming query, for one
// that GET /v1/reports/requests would refuse.
func read(query string) (request.ReportInput, error) {
	in, err := func() (in request.ReportInput, err error) {
		values, err := valuesOf(query)
		if err != nil {
			return in, err
		}
		for _, name := range fixed {
			if values.Has(name) {
				return in, apperr.InvalidField("query", "must not have %s: a mail is of the week before", name)
			}
		}
		if in, err = request.Report.Decode(nil, func(string) string { return "" }, values); err != nil {
			return in, err
		}
		return in, in.CheckBy()
	}()
	if err != nil {
		return in, inQuery(err)
	}
	return in, nil
}

// valuesOf reads a query.
func valuesOf(query string) (url.Values, error) {
	values, err := request.Report.Info().Input.Query(query)
	if err != nil {
		return nil, apperr.InvalidField("query", "must be parameters joined by '&', percent-encoded")
	}
	return values, nil
}

// inQuery has a refusal name the field that the parameters stand in.
func inQuery(err error) error {
	refused := apperr.From(err)
	if len(refused.Details) == 0 {
		return err
	}
	var details []apperr.Detail
	for _, d := range refused.Details {
		if d.Field != "query" {
			d = apperr.Detail{Field: "query", Message: fmt.Sprintf("has a parameter %s that is not valid: %s", d.Field, d.Message)}
		}
		details = append(details, d)
	}
	return apperr.Invalid(details...)
}

// UpdateInput changes the fields that are set.
type UpdateInput struct {
	op.ByID
	Name op.Patch[string] `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks" doc:"What its mails are called."`
}

func update(ctx context.Context, tx *op.Tx, before *ent.ReportSubscription, in UpdateInput) (*ent.ReportSubscription, error) {
	u := before.Update()
	op.Set(in.Name, u.SetName)
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("rename the subscription: %w", err)
	}
	return after, nil
}

func remove(ctx context.Context, tx *op.Tx, s *ent.ReportSubscription, _ op.ByID) (struct{}, error) {
	return op.Remove(ctx, tx, s, tx.ReportSubscription.DeleteOne(s).Exec)
}

// Mails reports whether mails of a kind (op.Told) are those of a subscription: the kind is its id.
func Mails(kind string) bool { return strings.HasPrefix(kind, "rsb_") }

// End deletes a subscription for the link in its mails, as the person who gets them, whatever they may do by now. It does nothing for one
// that is gone.
func End(ctx context.Context, e *op.Engine, company, userID, id string) error {
	u, err := e.Store.Reader().User.Get(e.Reading(ctx, company, worker), userID)
	if err == nil {
		_, _, err = op.Run(principal.With(ctx, notice.PrincipalOf(u)), e, Delete, op.ByID{ID: id}, nil)
	}
	if ent.IsNotFound(err) || err != nil && apperr.CodeOf(err) == apperr.NotFound {
		return nil
	}
	return err
}
