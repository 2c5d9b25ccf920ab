package request

import (
	"context"
	"fmt"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/schema"
	"atrium/ent/service"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/routing"
	"atrium/internal/desk/sla"
	"atrium/internal/identity/access"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

// Create files a request.
var Create = op.New("request.create", op.Spec{
	Resource: "Request", Action: op.Create, Scope: "requests:write",
	Summary: "File a request against an offering",
}, create).WithVerbs(func(in CreateInput) []string {
	if in.AssigneeID != nil || in.TeamID != nil {
		return []string{"request.create", "request.update"} // a caller who may not assign requests may not do it while filing either
	}
	return []string{"request.create"}
}).Prepared(func(ctx context.Context, tx *op.Tx, in CreateInput) (any, error) {
	fields, err := prepareFields(ctx, tx, in.OfferingID, in.Fields, nil, attachment.Answerable(tx, ""))
	if err != nil {
		return nil, err
	}
	rule, err := routing.Prepare(ctx, tx, func() (map[string]any, error) { return in.variables(ctx, tx) })
	if err != nil {
		return nil, err
	}
	return filing{fields, rule}, tx.ReserveNumbers(ctx, request.Table)
}).WithFaults(func(ctx context.Context, tx *op.Tx, in CreateInput) ([]apperr.Detail, error) {
	return NewFieldFaults(ctx, tx, in.OfferingID, in.Fields, attachment.Answerable(tx, ""))
}, "offeringId", "fields")

// filing is the result of the preparation.
type filing struct {
	fields fieldsChecked
	rule   *routing.Match // nil when no rule matches
}

// CreateInput describes a new request.
type CreateInput struct {
	ServiceID   string            `json:"serviceId" minLength:"1" maxLength:"64" doc:"The service that the request is made against."`
	OfferingID  string            `json:"offeringId" minLength:"1" maxLength:"64" doc:"An active offering of that service."`
	Title       string            `json:"title" minLength:"1" maxLength:"300" pattern:"\\S" patternDescription:"more than blanks"`
	Description *string           `json:"description,omitempty" nullable:"true" maxLength:"10000"`
	Format      *string           `json:"format,omitempty" nullable:"true" enum:"plain,markdown" doc:"How the description is written; plain when not given." example:"markdown"`
	Priority    *string           `json:"priority,omitempty" nullable:"true" enum:"LOW,MEDIUM,HIGH,URGENT" doc:"MEDIUM when not given." example:"LOW"`
	Fields      strictjson.Object `json:"fields,omitempty" nullable:"true" doc:"The answers to the offering's form, by field key. The drafts that the answer to a field of type file names become files of the request." example:"{\"model\": \"14 inch\", \"memory\": 32}"`
	Tags        map[string]string `json:"tags,omitempty" nullable:"true"`
	AssigneeID  *string           `json:"assigneeId,omitempty" nullable:"true" maxLength:"64"`
	TeamID      *string           `json:"teamId,omitempty" nullable:"true" maxLength:"64"`

	RequesterID    *string `json:"requesterId,omitempty" nullable:"true" maxLength:"64" doc:"The person for whom it is: the caller when not given. Members file for themselves alone."`
	RequesterEmail *string `json:"requesterEmail,omitempty" nullable:"true" maxLength:"254" pattern:"^[^\\s@<>(),;:\"]+@[^\\s@<>(),;:\"]+$" patternDescription:"an e-mail address" doc:"That person by their address; give one of the two."`

	AttachmentIDs []string `json:"attachmentIds,omitempty" nullable:"true" maxItems:"20" doc:"Drafts of the caller's, which become files of the request." example:"[]"`

	Cause         events.Cause `json:"-"` // the execution that files it, if one does
	MailboxTeamID *string      `json:"-"` // the team of the mailbox whose mail files it, whatever the rules say
}

func create(ctx context.Context, tx *op.Tx, in CreateInput) (*ent.Request, error) {
	ready, _ := op.Preparation[filing](tx)
	off, err := target(ctx, tx, &in, ready.fields)
	if err != nil {
		return nil, err
	}
	if err := ready.fields.check(off); err != nil {
		return nil, err
	}
	if err := takesRequests(off, off.Edges.Service.Status); err != nil {
		return nil, err
	}
	if in.MailboxTeamID != nil {
		in.TeamID = in.MailboxTeamID
	}
	routed := &routing.Routed{TeamID: in.TeamID, AssigneeID: in.AssigneeID}
	if ready.rule != nil {
		if routed, err = ready.rule.Route(ctx, tx, in.TeamID, in.AssigneeID); err != nil {
			return nil, err
		}
	}
	if routed.TeamID == nil {
		routed.TeamID = off.Edges.Service.OwnerTeamID // whoever files need not see the team
	}
	number, err := tx.Number(ctx, request.Table)
	if err != nil {
		return nil, err
	}
	priority := request.Priority(op.Or(routed.Priority, in.priority()))
	c := tx.Request.Create().
		SetNumber(number).
		SetServiceID(in.ServiceID).
		SetOfferingID(in.OfferingID).
		SetTitle(in.Title).
		SetDescription(op.Or(in.Description, "")).
		SetFormat(request.Format(formatFor(tx, in.Format))).
		SetPriority(priority).
		SetPriorityRank(rank(priority)).
		SetFields(ready.fields.raw).
		SetTags(in.Tags).
		SetCreatedBy(tx.Principal().ID).
		SetRequesterID(op.Or(in.RequesterID, tx.Principal().ID)).
		SetNillableAssigneeID(routed.AssigneeID).
		SetNillableTeamID(routed.TeamID)
	if routed.RuleID != "" {
		c.SetRoutingRuleID(routed.RuleID)
	}
	if err := startClock(ctx, tx, off, c.Mutation(), priority); err != nil {
		return nil, err
	}
	r, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("file the request: %w", err)
	}
	if err := attachment.Claim(ctx, tx, in.AttachmentIDs, r.ID, nil); err != nil {
		return nil, err
	}
	if err := ready.fields.claim(ctx, tx, r.ID, nil); err != nil {
		return nil, err
	}
	if err := tellFiled(ctx, tx, r); err != nil {
		return nil, err
	}
	in.Cause.NoWorkflow = off.WorkflowID == nil
	if r, err = emitFiled(ctx, tx, events.RequestCreated, r, off, in.Cause); err != nil {
		return nil, err
	}
	tx.Changed(nil, r)
	return r, nil
}

// variables returns the request about to be filed in the form that expressions see.
func (in CreateInput) variables(ctx context.Context, tx *op.Tx) (map[string]any, error) {
	fields, err := answers(in.Fields)
	if err != nil {
		return nil, err
	}
	requester, err := in.requester(ctx, tx)
	if err != nil {
		return nil, err
	}
	now := tx.Now(ctx)
	r := &ent.Request{
		CreatedAt: now, UpdatedAt: now, ServiceID: in.ServiceID, OfferingID: in.OfferingID, Title: in.Title, Description: op.Or(in.Description, ""),
		Format: request.Format(formatFor(tx, in.Format)),
		Status: request.StatusPENDING, Priority: request.Priority(in.priority()), Fields: fields, Tags: in.Tags,
		CreatedBy: tx.Principal().ID, RequesterID: requester, AssigneeID: in.AssigneeID, TeamID: in.TeamID,
	}
	off, err := tx.Offering.Get(tx.Unfiltered(ctx, "the operation asks whether the caller sees the offering"), in.OfferingID)
	if ent.IsNotFound(err) {
		return Variables(r) // the operation reports the missing row
	}
	if err != nil {
		return nil, fmt.Errorf("read the offering: %w", err)
	}
	c, err := firstClock(ctx, tx, off, r.Priority, now)
	if err != nil {
		return nil, err
	}
	if c != nil && c.State != sla.None {
		r.SLAState, r.ResponseDueAt, r.ResolutionDueAt = new(request.SLAState(c.State)), c.ResponseDueAt, c.ResolutionDueAt
	}
	return Variables(r)
}

func (in CreateInput) priority() string { return op.Or(in.Priority, string(request.PriorityMEDIUM)) }

// target returns the offering that the request is filed against, with its service, and puts the id of a requester for their address. Of an
// active service it reads the team alone, to which requests belong that no rule and no caller gives to another. Returns a validation error
// that names ids which are no rows of the company or do not belong together, and then also the answers that the offering's form refuses.
func target(ctx context.Context, tx *op.Tx, in *CreateInput, fields fieldsChecked) (*ent.Offering, error) {
	if in.AssigneeID == nil && in.TeamID == nil && in.RequesterID == nil && in.RequesterEmail == nil {
		off, err := tx.Offering.Query().Where(offering.ID(in.OfferingID),
			offering.HasServiceWith(service.ID(in.ServiceID), service.StatusEQ(service.StatusActive)), withOwner(tx.Principal().CompanyID)).Only(ctx)
		if err == nil {
			// One statement, enough for every request that names no assignee or team and is not refused.
			return off, readOwner(ctx, off)
		}
		if !ent.IsNotFound(err) {
			return nil, fmt.Errorf("look the offering up: %w", err)
		}
	}
	off, err := tx.Offering.Query().Where(offering.ID(in.OfferingID)).WithService().Only(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return nil, fmt.Errorf("look the offering up: %w", err)
	}
	var refs op.Refs
	if off == nil || off.ServiceID != in.ServiceID || off.Edges.Service == nil {
		refs.Check("serviceId", &in.ServiceID, "service", func(id string) (bool, error) {
			return tx.Service.Query().Where(service.ID(id)).Exist(ctx) // among the services that the caller sees
		})
	}
	if off == nil || off.ServiceID != in.ServiceID {
		refs.Fault("offeringId", "is no offering of the service")
	}
	checkAssignee(ctx, tx, &refs, in.AssigneeID)
	refs.Check("teamId", in.TeamID, "team", teamExists(ctx, tx))
	if err := checkRequester(ctx, tx, &refs, in); err != nil {
		return nil, err
	}
	if off != nil && off.ServiceID == in.ServiceID {
		refs.Refused(fields.check(off))
	}
	if err := refs.Err(); err != nil {
		return nil, err
	}
	if off.Edges.Service == nil { // deleted since the offering was read
		return nil, apperr.New(apperr.Conflict, "The service takes no requests: it is not active.")
	}
	return off, nil
}

// ownerColumn is the name of the column in which an offering brings its service's team.
const ownerColumn = "service_owner_team"

// withOwner makes a query of offerings bring the team of each one's service, empty for none: the driver of SQLite has no type for null.
func withOwner(company string) predicate.Offering {
	return func(s *sql.Selector) {
		d := sql.Dialect(s.Dialect())
		t := d.Table(service.Table)
		s.AppendSelectExprAs(d.Select("COALESCE("+t.C(service.FieldOwnerTeamID)+", '')").From(t).
			Where(sql.And(sql.EQ(t.C(service.FieldCompanyID), company), sql.ColumnsEQ(t.C(service.FieldID), s.C(offering.FieldServiceID)))), ownerColumn)
	}
}

// readOwner puts an active service with that team into the offering.
func readOwner(ctx context.Context, off *ent.Offering) error {
	off.Edges.Service = &ent.Service{ID: off.ServiceID, CompanyID: off.CompanyID, Status: service.StatusActive}
	team, err := off.Value(ownerColumn)
	if err != nil {
		return fmt.Errorf("read the service's team: %w", err)
	}
	if id, _ := team.(string); id != "" {
		schema.Remember(ctx, id)
		off.Edges.Service.OwnerTeamID = &id
	}
	return nil
}

// takesRequests returns conflict when the offering or its service is not active.
func takesRequests(off *ent.Offering, status service.Status) error {
	if status != service.StatusActive {
		return apperr.New(apperr.Conflict, "The service takes no requests: it is not active.")
	}
	if off.Status != offering.StatusActive {
		return apperr.New(apperr.Conflict, "The offering takes no requests: it is not active.")
	}
	return nil
}

// checkAssignee records a fault when the assignee is no user of the company, or was deactivated or erased. It holds the user's row: a
// deactivation that hands work over waits, and then sees this request.
func checkAssignee(ctx context.Context, tx *op.Tx, refs *op.Refs, id *string) {
	working := true
	refs.Check("assigneeId", id, "user", func(id string) (bool, error) {
		u, err := op.Share(tx, tx.User.Query().Where(user.ID(id))).Only(ctx)
		if err != nil {
			return false, ent.MaskNotFound(err)
		}
		working = !access.Gone(u.Status)
		return true, nil
	})
	if !working {
		refs.Fault("assigneeId", "is a user who was deactivated or erased")
	}
}

// requester returns the id of the person for whom the request is filed, and that of the caller when nobody is named; empty when the
// company has no such person.
func (in CreateInput) requester(ctx context.Context, tx *op.Tx) (string, error) {
	where := user.ID(op.Or(in.RequesterID, ""))
	switch {
	case in.RequesterEmail != nil:
		where = user.Email(strings.ToLower(*in.RequesterEmail))
	case op.Or(in.RequesterID, tx.Principal().ID) == tx.Principal().ID:
		return tx.Principal().ID, nil
	}
	return person(ctx, tx, where)
}

// person returns the id of a user of the company, and holds their row; empty when there is none, or when they were deactivated or erased.
func person(ctx context.Context, tx *op.Tx, where predicate.User) (string, error) {
	u, err := op.Share(tx, tx.User.Query().Where(where)).Only(ctx)
	if err != nil || access.Gone(u.Status) {
		return "", ent.MaskNotFound(err)
	}
	return u.ID, nil
}

// PersonAt returns the id of the person of the context's company with an address, who can be a request's requester; nil for none.
func PersonAt(ctx context.Context, db *ent.Client, address string) (*string, error) {
	u, err := db.User.Query().Where(user.Email(strings.ToLower(strings.TrimSpace(address)))).Only(ctx)
	if err != nil || access.Gone(u.Status) {
		return nil, ent.MaskNotFound(err)
	}
	return &u.ID, nil
}

// checkRequester puts the id of the requester into the input. Whoever is named besides the caller takes the right to change requests:
// members file for themselves alone.
func checkRequester(ctx context.Context, tx *op.Tx, refs *op.Refs, in *CreateInput) error {
	id, err := in.requester(ctx, tx)
	if err != nil {
		return fmt.Errorf("look the requester up: %w", err)
	}
	if id != tx.Principal().ID {
		if err := tx.May(ctx, "request.update"); err != nil {
			return err
		}
	}
	switch {
	case in.RequesterID != nil && in.RequesterEmail != nil:
		refs.Fault("requesterEmail", "must not be given beside requesterId")
	case id == "" && in.RequesterID != nil:
		refs.Fault("requesterId", "is no user of the company, or one who was deactivated or erased")
	case id == "":
		refs.Fault("requesterEmail", "is no address of a user of the company, or of one who was deactivated or erased")
	}
	in.RequesterID = &id
	return nil
}

// tellFiled has those notified who did not file a new request themselves: its assignee, and the person whom it is for. A person who has
// signed in and files for themselves may want a receipt.
func tellFiled(ctx context.Context, tx *op.Tx, r *ent.Request) error {
	by, told := tx.Principal(), notice.ProgressArgs{Company: r.CompanyID, Request: r.ID}
	switch {
	case r.RequesterID != by.ID:
		told.Filed, told.By = true, by.ID
	case by.SignedIn():
		told.Receipt, told.Signed = true, true
	}
	if told.Filed || told.Receipt {
		if err := tx.Insert(ctx, told, time.Time{}); err != nil {
			return err
		}
	}
	return tellAssignee(ctx, tx, nil, r)
}

// tellAssignee has a request's new assignee watch it, and notified unless the caller is the new assignee.
func tellAssignee(ctx context.Context, tx *op.Tx, before, after *ent.Request) error {
	to := after.AssigneeID
	if to == nil || before != nil && before.AssigneeID != nil && *before.AssigneeID == *to {
		return nil
	}
	if _, _, err := addWatchers(ctx, tx, after.ID, *to); err != nil || *to == tx.Principal().ID {
		return err
	}
	return tx.Insert(ctx, notice.Args{Company: after.CompanyID, Request: after.ID, By: tx.Principal().ID, MailAt: events.MailAt(ctx)}, time.Time{})
}

func teamExists(ctx context.Context, tx *op.Tx) func(string) (bool, error) {
	return op.FindShared(ctx, tx, func(id string) *ent.TeamQuery { return tx.Team.Query().Where(team.ID(id)) })
}

// rank returns the number by which lists order priorities.
func rank(p request.Priority) int8 {
	switch p {
	case request.PriorityLOW:
		return 1
	case request.PriorityHIGH:
		return 3
	case request.PriorityURGENT:
		return 4
	default:
		return 2
	}
}
