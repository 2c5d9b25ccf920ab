package catalog

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/inboundwebhook"
	"atrium/ent/offering"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/schedule"
	"atrium/ent/workflow"
	"atrium/internal/desk/form"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/text"
)

var offeringSorts = op.Sorts{"createdAt": offering.FieldCreatedAt, "updatedAt": offering.FieldUpdatedAt, "name": op.Alphabetical(offering.FieldName)}

// The operations on offerings. Listing and creating take the id of the service.
var (
	ListOfferings = op.OnRow("offering.list", op.Spec{
		Resource: "Offering", Action: op.Read, Scope: "services:read", Sorts: offeringSorts,
		Summary: "List a service's offerings",
	}, loadParent, listOfferings)

	GetOffering = op.Get("offering.read", op.Spec{
		Resource: "Offering", Action: op.Read, Scope: "services:read",
		Summary: "Get an offering",
	}, loadOffering)

	CreateOffering = op.OnRow("offering.create", op.Spec{
		Resource: "Offering", Action: op.Create, Scope: "services:write",
		Summary: "Create an offering of a service",
	}, loadParent, createOffering).Prepared(func(ctx context.Context, tx *op.Tx, in CreateOfferingInput) (any, error) {
		ready, err := prepareOffering(ctx, tx, in.Form, in.SLA)
		if err != nil {
			return ready, err
		}
		return ready, ready.read(ctx, tx, in.WorkflowID, in.ReopenWorkflowID)
	}).WithFaults(func(ctx context.Context, tx *op.Tx, in CreateOfferingInput) ([]apperr.Detail, error) {
		return offeringFaults(ctx, tx, in.Form, in.SLA, in.WorkflowID, in.ReopenWorkflowID)
	})

	UpdateOffering = op.OnRow("offering.update", op.Spec{
		Resource: "Offering", Action: op.Update, Scope: "services:write",
		Summary: "Update an offering",
	}, loadOffering, updateOffering).Prepared(func(ctx context.Context, tx *op.Tx, in UpdateOfferingInput) (any, error) {
		ready, err := prepareOffering(ctx, tx, in.Form.Value(), in.SLA.Value())
		if err != nil || !in.asks() {
			return ready, err
		}
		before, err := tx.Offering.Query().Where(offering.ID(in.ID)).Only(ctx)
		if err != nil {
			return ready, ent.MaskNotFound(err) // whoever may not see it is refused as ever
		}
		return ready, ready.read(ctx, tx, op.After(in.WorkflowID, before.WorkflowID), op.After(in.ReopenWorkflowID, before.ReopenWorkflowID))
	}).WithFaults(func(ctx context.Context, tx *op.Tx, in UpdateOfferingInput) ([]apperr.Detail, error) {
		return offeringFaults(ctx, tx, in.Form.Value(), in.SLA.Value(), in.WorkflowID.Value(), in.ReopenWorkflowID.Value())
	})

	DeleteOffering = op.OnRow("offering.delete", op.Spec{
		Resource: "Offering", Action: op.Delete, Scope: "services:write",
		Summary: "Delete an offering that has no requests",
	}, loadOffering, deleteOffering)
)

// loadParent loads the service of a path like /services/{id}/offerings.
func loadParent(ctx context.Context, tx *op.Tx, id string) (*ent.Service, error) {
	s, err := loadService(ctx, tx, id)
	if ent.IsNotFound(err) {
		return nil, apperr.Missing("Service")
	}
	return s, err
}

func loadOffering(ctx context.Context, tx *op.Tx, id string) (*ent.Offering, error) {
	return op.Lock(tx, tx.Offering.Query().Where(offering.ID(id))).Only(ctx)
}

// OfferingFilter selects the offerings of a service that are listed.
type OfferingFilter struct {
	Status []string `json:"-" query:"status" enum:"active,inactive" doc:"Offerings in any of these states."`
	Q      string   `json:"-" query:"q" maxLength:"200" doc:"Offerings whose name or description has these words, or parts of them."`
}

// where returns the filter as predicates.
func (f OfferingFilter) where() []predicate.Offering {
	return paging.Words(paging.In(nil, f.Status, offering.StatusIn), f.Q, offering.FieldName, offering.FieldDescription)
}

// ListOfferingsInput filters and pages the offerings of one service.
type ListOfferingsInput struct {
	op.ByID
	paging.Page
	OfferingFilter
}

func listOfferings(ctx context.Context, tx *op.Tx, s *ent.Service, in ListOfferingsInput) (paging.List[*ent.Offering], error) {
	return paging.Of(ctx, in.Page, offeringSorts, tx.Offering.Query().Where(offering.ServiceID(s.ID)).Where(in.where()...))
}

// FindOfferings returns the newest offerings of all services that have the words, at most so many. The caller may list offerings.
func FindOfferings(ctx context.Context, tx *op.Tx, q string, most int) ([]*ent.Offering, error) {
	found, err := tx.Offering.Query().Where(OfferingFilter{Q: q}.where()...).Order(ent.Desc(offering.FieldCreatedAt, offering.FieldID)).Limit(most).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("find offerings: %w", err)
	}
	return found, nil
}

// CreateOfferingInput describes a new offering of the service in the path.
type CreateOfferingInput struct {
	op.ByID
	Name             string            `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Slug             *string           `json:"slug,omitempty" nullable:"true" pattern:"^[a-z0-9-]{1,63}$" doc:"Made from the name when not given; unique in the service."`
	Description      *string           `json:"description,omitempty" nullable:"true" maxLength:"10000"`
	Status           *string           `json:"status,omitempty" nullable:"true" enum:"active,inactive" doc:"Starts active."`
	Form             *form.Definition  `json:"form,omitempty" nullable:"true" doc:"What a request must say; without a form it may say anything."`
	WorkflowID       *string           `json:"workflowId,omitempty" nullable:"true" maxLength:"64"`
	ReopenDays       *int              `json:"reopenDays,omitempty" nullable:"true" minimum:"0" maximum:"365" doc:"For how many days after its completion the requester may open a request again: 7 when not given, 0 for never. What they say later becomes a new request, linked with it. Staff always may."`
	ReopenWorkflowID *string           `json:"reopenWorkflowId,omitempty" nullable:"true" maxLength:"64" doc:"The published workflow that a request runs through when it is opened again."`
	AskSatisfaction  *bool             `json:"askSatisfaction,omitempty" nullable:"true" doc:"Whether the requester is asked by mail, once a request is completed, how content they are; false when not given." example:"true"`
	SLA              *SLA              `json:"sla,omitempty" nullable:"true"`
	Tags             map[string]string `json:"tags,omitempty" nullable:"true"`
}

func createOffering(ctx context.Context, tx *op.Tx, s *ent.Service, in CreateOfferingInput) (*ent.Offering, error) {
	levels := op.Or(in.SLA, SLA{})
	found, _ := op.Preparation[ready](tx)
	asked, err := found.unasked(ctx, tx, in.Form, in.WorkflowID, in.ReopenWorkflowID, "workflowId", "reopenWorkflowId")
	if err != nil {
		return nil, err
	}
	if err := checkOffering(ctx, tx, append(found.faults, asked...), in.WorkflowID, in.ReopenWorkflowID, levels); err != nil {
		return nil, err
	}
	c := tx.Offering.Create().
		SetServiceID(s.ID).
		SetName(in.Name).
		SetSlug(tx.SlugOf(in.Slug, in.Name, "offering")).
		SetDescription(op.Or(in.Description, "")).
		SetStatus(offering.Status(op.Or(in.Status, "active"))).
		SetNillableWorkflowID(in.WorkflowID).
		SetNillableReopenDays(in.ReopenDays).
		SetNillableReopenWorkflowID(in.ReopenWorkflowID).
		SetNillableAskSatisfaction(in.AskSatisfaction).
		SetTags(in.Tags)
	setSLA(c.Mutation(), levels)
	if in.Form != nil {
		c.SetForm(in.Form)
	}
	o, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the offering: %w", err)
	}
	tx.About(o.ID)
	tx.Changed(nil, o)
	return o, nil
}

// UpdateOfferingInput changes the fields that it names.
type UpdateOfferingInput struct {
	op.ByID
	Name             op.Patch[string]            `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Slug             op.Patch[string]            `json:"slug,omitzero" pattern:"^[a-z0-9-]{1,63}$"`
	Description      op.Patch[string]            `json:"description,omitzero" nullable:"true" maxLength:"10000"`
	Status           op.Patch[string]            `json:"status,omitzero" enum:"active,inactive"`
	Form             op.Patch[form.Definition]   `json:"form,omitzero" nullable:"true" doc:"Replaces the form whole."`
	WorkflowID       op.Patch[string]            `json:"workflowId,omitzero" nullable:"true" maxLength:"64"`
	ReopenDays       op.Patch[int]               `json:"reopenDays,omitzero" minimum:"0" maximum:"365" doc:"For how many days after its completion the requester may open a request again; 0 for never. What they say later becomes a new request, linked with it. Staff always may."`
	ReopenWorkflowID op.Patch[string]            `json:"reopenWorkflowId,omitzero" nullable:"true" maxLength:"64" doc:"The published workflow that a request runs through when it is opened again."`
	AskSatisfaction  op.Patch[bool]              `json:"askSatisfaction,omitzero" doc:"Whether the requester is asked by mail, once a request is completed, how content they are."`
	SLA              op.Patch[SLA]               `json:"sla,omitzero" nullable:"true" doc:"Replaces the service levels whole."`
	Tags             op.Patch[map[string]string] `json:"tags,omitzero" nullable:"true" doc:"Replaces all tags."`
}

func updateOffering(ctx context.Context, tx *op.Tx, before *ent.Offering, in UpdateOfferingInput) (*ent.Offering, error) {
	levels := op.Or(in.SLA.Value(), SLA{})
	found, _ := op.Preparation[ready](tx)
	if in.asks() {
		asked, err := found.unasked(ctx, tx, op.After(in.Form, before.Form), op.After(in.WorkflowID, before.WorkflowID),
			op.After(in.ReopenWorkflowID, before.ReopenWorkflowID), where(in.WorkflowID, "workflowId"), where(in.ReopenWorkflowID, "reopenWorkflowId"))
		if err != nil {
			return nil, err
		}
		found.faults = append(found.faults, asked...)
	}
	if err := checkOffering(ctx, tx, found.faults, in.WorkflowID.Value(), in.ReopenWorkflowID.Value(), levels); err != nil {
		return nil, err
	}
	u := before.Update()
	op.Set(in.Name, u.SetName)
	op.Set(in.Slug, u.SetSlug)
	op.SetOrClear(in.Description, u.SetDescription, func() *ent.OfferingUpdateOne { return u.SetDescription("") })
	if status, ok := op.Given(in.Status); ok {
		u.SetStatus(offering.Status(status))
	}
	op.SetOrClear(in.Form, func(f form.Definition) *ent.OfferingUpdateOne { return u.SetForm(&f) }, u.ClearForm)
	op.SetOrClear(in.WorkflowID, u.SetWorkflowID, u.ClearWorkflowID)
	op.Set(in.ReopenDays, u.SetReopenDays)
	op.SetOrClear(in.ReopenWorkflowID, u.SetReopenWorkflowID, u.ClearReopenWorkflowID)
	op.Set(in.AskSatisfaction, u.SetAskSatisfaction)
	if in.SLA.IsSet() {
		replaceSLA(u.Mutation(), levels)
	}
	op.SetOrClear(in.Tags, u.SetTags, u.ClearTags)
	saved, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the offering: %w", err)
	}
	if saved == before || !in.SLA.IsSet() {
		return saved, nil
	}
	return saved, timer.Rederive(ctx, tx, timer.RederiveArgs{Offering: saved.ID})
}

func deleteOffering(ctx context.Context, tx *op.Tx, o *ent.Offering, _ op.ByID) (struct{}, error) {
	used, err := tx.Request.Query().Where(request.OfferingID(o.ID)).
		Exist(tx.Unfiltered(ctx, "requests that the caller does not see keep an offering in use, too"))
	if err != nil {
		return struct{}{}, fmt.Errorf("look for the offering's requests: %w", err)
	}
	if used {
		return struct{}{}, apperr.New(apperr.Conflict, "The offering has requests. Make it inactive instead.")
	}
	if err := uncalled(ctx, tx, offering.ID(o.ID)); err != nil {
		return struct{}{}, err
	}
	if err := unscheduled(ctx, tx, offering.ID(o.ID)); err != nil {
		return struct{}{}, err
	}
	return op.Remove(ctx, tx, o, tx.Offering.DeleteOne(o).Exec)
}

// uncalled returns conflict when an inbound webhook files requests against an offering that matches. It gives no id, because a
// webhook's id is its address, which a caller who may delete offerings need not know.
func uncalled(ctx context.Context, tx *op.Tx, offerings predicate.Offering) error {
	return op.InUse(ctx, tx, tx.InboundWebhook.Query().Where(inboundwebhook.HasOfferingWith(offerings)).Order(inboundwebhook.ByName(), inboundwebhook.ByID()), func(w *ent.InboundWebhook) error {
		if w == nil {
			return apperr.New(apperr.Conflict, "An inbound webhook files requests against the offering.")
		}
		return apperr.New(apperr.Conflict, "The inbound webhook %q files requests against the offering.", text.Short(w.Name, 80))
	})
}

// unscheduled returns conflict when a schedule files requests against an offering that matches.
func unscheduled(ctx context.Context, tx *op.Tx, offerings predicate.Offering) error {
	return op.InUse(ctx, tx, tx.Schedule.Query().Where(schedule.HasOfferingWith(offerings)).Order(schedule.ByName(), schedule.ByID()), func(s *ent.Schedule) error {
		if s == nil {
			return apperr.New(apperr.Conflict, "A schedule files requests against the offering.")
		}
		return apperr.New(apperr.Conflict, "The schedule %q (%s) files requests against the offering.", text.Short(s.Name, 80), s.ID)
	})
}

// deleteOfferingsOf deletes the offerings of a service that is being deleted.
func deleteOfferingsOf(ctx context.Context, tx *op.Tx, serviceID string) error {
	if _, err := tx.Offering.Delete().Where(offering.ServiceID(serviceID)).Exec(ctx); err != nil {
		return fmt.Errorf("delete the service's offerings: %w", err)
	}
	return nil
}

// prepareOffering checks a form before the transaction, because it compiles and tries the form's patterns, and compiles the calendar of
// service levels to try the largest of them.
func prepareOffering(ctx context.Context, tx *op.Tx, f *form.Definition, levels *SLA) (out ready, err error) {
	if f == nil && (levels == nil || levels.CalendarID == nil) {
		return out, nil
	}
	err = tx.Costly(ctx, func(ctx context.Context) error {
		if f != nil {
			out.faults = form.Check(*f)
		}
		unmet, err := levels.unmet(ctx, tx)
		out.faults = append(out.faults, unmet...)
		return err
	})
	return out, err
}

// offeringFaults returns everything that is wrong with a form, service levels and workflows, outside of a transaction.
func offeringFaults(ctx context.Context, tx *op.Tx, f *form.Definition, levels *SLA, workflowID, reopenWorkflowID *string) ([]apperr.Detail, error) {
	found, err := prepareOffering(ctx, tx, f, levels)
	if err == nil {
		err = checkOffering(ctx, tx, found.faults, workflowID, reopenWorkflowID, op.Or(levels, SLA{}))
	}
	return op.Details(err)
}

// checkOffering returns a validation error with the faults that its preparation found, and the ids that are no rows of the company.
func checkOffering(ctx context.Context, tx *op.Tx, found faults, workflowID, reopenWorkflowID *string, levels SLA) error {
	var refs op.Refs
	for _, d := range found {
		refs.Fault(d.Field, d.Message)
	}
	published := op.FindShared(ctx, tx, func(id string) *ent.WorkflowQuery {
		return tx.Workflow.Query().Where(workflow.ID(id), workflow.VersionGT(0), workflow.StatusNEQ(workflow.StatusArchived))
	})
	refs.Check("workflowId", workflowID, "published workflow", published)
	refs.Check("reopenWorkflowId", reopenWorkflowID, "published workflow", published)
	checkSLA(ctx, tx, &refs, levels)
	return refs.Err()
}
