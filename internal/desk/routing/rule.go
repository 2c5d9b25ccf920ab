package routing

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/routingrule"
	"atrium/ent/team"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow/definition"
)

// maxRules is how many rules a company may have, including disabled ones.
const maxRules = 200

var sorts = op.Sorts{
	"createdAt": routingrule.FieldCreatedAt, "updatedAt": routingrule.FieldUpdatedAt,
	"name": op.Alphabetical(routingrule.FieldName), "position": routingrule.FieldPosition,
}

// The operations on routing rules.
var (
	List = op.New("routingrule.list", op.Spec{
		Resource: "RoutingRule", Action: op.Read, AdminLayer: true, Sorts: sorts, Summary: "List routing rules, by position",
	}, func(ctx context.Context, tx *op.Tx, in ListInput) (paging.List[*ent.RoutingRule], error) {
		if in.Sort == "" {
			in.Sort = "position"
		}
		return paging.Of(ctx, in.Page, sorts, tx.RoutingRule.Query())
	})

	Get = op.Get("routingrule.read", op.Spec{
		Resource: "RoutingRule", Action: op.Read, AdminLayer: true, Summary: "Get a routing rule",
	}, load)

	Create = op.New("routingrule.create", op.Spec{
		Resource: "RoutingRule", Action: op.Create, AdminLayer: true, Summary: "Create a routing rule, in force at once",
	}, create).Prepared(func(ctx context.Context, tx *op.Tx, in CreateInput) (any, error) {
		return faults(ctx, tx, in.When)
	}).WithCheck(checkNew, "when")

	Update = op.OnRow("routingrule.update", op.Spec{
		Resource: "RoutingRule", Action: op.Update, AdminLayer: true, Summary: "Change a routing rule, in force at once",
	}, load, update).Prepared(func(ctx context.Context, tx *op.Tx, in UpdateInput) (any, error) {
		if when, ok := op.Given(in.When); ok {
			return faults(ctx, tx, when)
		}
		return nil, nil // the condition stays
	}).WithCheck(checkChange, "when")

	Delete = op.OnRow("routingrule.delete", op.Spec{
		Resource: "RoutingRule", Action: op.Delete, AdminLayer: true, Summary: "Delete a routing rule",
	}, load, remove)
)

// ListInput pages the rules.
type ListInput struct{ paging.Page }

func load(ctx context.Context, tx *op.Tx, id string) (*ent.RoutingRule, error) {
	return op.Lock(tx, tx.RoutingRule.Query().Where(routingrule.ID(id))).Only(ctx)
}

// CreateInput describes a new rule.
type CreateInput struct {
	Name     string  `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Position *int    `json:"position,omitempty" nullable:"true" minimum:"1" maximum:"1000000" doc:"The first rule that holds counts. Behind all others when not given."`
	When     string  `json:"when" minLength:"1" maxLength:"4096" doc:"A CEL expression over request." example:"request.priority == 'URGENT'"`
	TeamID   *string `json:"teamId,omitempty" nullable:"true" maxLength:"64" doc:"The team that gets the request. A rule has a team, a priority or both."`
	AssignTo *string `json:"assignTo,omitempty" nullable:"true" enum:"none,leastLoaded,roundRobin" doc:"Whom of the team: nobody (when not given), the active member with the fewest open requests, or one after the other."`
	Priority *string `json:"priority,omitempty" nullable:"true" enum:"LOW,MEDIUM,HIGH,URGENT" doc:"The priority that the request gets."`
	Enabled  *bool   `json:"enabled,omitempty" nullable:"true" doc:"Starts enabled."`
}

// faults compiles a condition, and returns its faults.
func faults(ctx context.Context, tx *op.Tx, when string) (details []apperr.Detail, err error) {
	err = tx.Costly(ctx, func(ctx context.Context) error {
		_, details = definition.ParseCondition(ctx, "when", when)
		return nil
	})
	return details, err
}

func create(ctx context.Context, tx *op.Tx, in CreateInput) (*ent.RoutingRule, error) {
	assign := routingrule.AssignTo(op.Or(in.AssignTo, string(routingrule.DefaultAssignTo)))
	details, _ := op.Preparation[[]apperr.Detail](tx)
	if err := check(ctx, tx, details, in.TeamID, in.TeamID, assign, in.Priority == nil); err != nil {
		return nil, err
	}
	if err := tx.LockName(ctx, "routingrules/"+tx.Principal().CompanyID); err != nil {
		return nil, err
	}
	all := tx.Unfiltered(ctx, "rules that the caller does not see count, too")
	n, err := tx.RoutingRule.Query().Count(all)
	if err != nil {
		return nil, fmt.Errorf("count the routing rules: %w", err)
	}
	if n >= maxRules {
		return nil, apperr.New(apperr.Conflict, "The company has %d routing rules, which is as many as it may have.", maxRules)
	}
	position := 1
	if in.Position != nil {
		position = *in.Position
	} else if n > 0 {
		last, err := tx.RoutingRule.Query().Aggregate(ent.Max(routingrule.FieldPosition)).Int(all)
		if err != nil {
			return nil, fmt.Errorf("look for the last routing rule: %w", err)
		}
		position = last + 1
	}
	c := tx.RoutingRule.Create().SetName(in.Name).SetPosition(position).SetWhen(in.When).SetNillableTeamID(in.TeamID).
		SetAssignTo(assign).SetEnabled(op.Or(in.Enabled, true))
	if in.Priority != nil {
		c.SetPriority(routingrule.Priority(*in.Priority))
	}
	r, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the routing rule: %w", err)
	}
	tx.AuthorityChanged()
	tx.Changed(nil, r)
	return r, nil
}

// UpdateInput changes the fields that it names.
type UpdateInput struct {
	op.ByID
	Name     op.Patch[string] `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Position op.Patch[int]    `json:"position,omitzero" minimum:"1" maximum:"1000000" doc:"The first rule that holds counts."`
	When     op.Patch[string] `json:"when,omitzero" minLength:"1" maxLength:"4096" doc:"A CEL expression over request." example:"request.priority == 'URGENT'"`
	TeamID   op.Patch[string] `json:"teamId,omitzero" nullable:"true" maxLength:"64" doc:"The team that gets the request."`
	AssignTo op.Patch[string] `json:"assignTo,omitzero" enum:"none,leastLoaded,roundRobin" doc:"Whom of the team: nobody, the active member with the fewest open requests, or one after the other."`
	Priority op.Patch[string] `json:"priority,omitzero" nullable:"true" enum:"LOW,MEDIUM,HIGH,URGENT" doc:"The priority that the request gets."`
	Enabled  op.Patch[bool]   `json:"enabled,omitzero" doc:"Whether it counts."`
}

// check reports what is wrong with a rule once it is changed; details are the faults of its condition.
func (in UpdateInput) check(ctx context.Context, tx *op.Tx, details []apperr.Detail, before *ent.RoutingRule) (assign routingrule.AssignTo, err error) {
	team := op.After(in.TeamID, before.TeamID)
	assign = before.AssignTo
	op.Set(in.AssignTo, func(to string) any { assign = routingrule.AssignTo(to); return nil })
	priority := before.Priority != nil
	if in.Priority.IsSet() {
		priority = in.Priority.Value() != nil
	}
	idle := !priority && (in.TeamID.IsSet() || in.Priority.IsSet()) // one that did nothing before this was refused can still be renamed and disabled
	return assign, check(ctx, tx, details, in.TeamID.Value(), team, assign, idle)
}

func update(ctx context.Context, tx *op.Tx, before *ent.RoutingRule, in UpdateInput) (*ent.RoutingRule, error) {
	details, _ := op.Preparation[[]apperr.Detail](tx)
	assign, err := in.check(ctx, tx, details, before)
	if err != nil {
		return nil, err
	}
	u := before.Update()
	op.Set(in.Name, u.SetName)
	op.Set(in.Position, u.SetPosition)
	op.Set(in.When, u.SetWhen)
	op.SetOrClear(in.TeamID, u.SetTeamID, u.ClearTeamID)
	op.Set(in.AssignTo, func(string) any { return u.SetAssignTo(assign) })
	op.SetOrClear(in.Priority, func(p string) *ent.RoutingRuleUpdateOne { return u.SetPriority(routingrule.Priority(p)) }, u.ClearPriority)
	op.Set(in.Enabled, u.SetEnabled)
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the routing rule: %w", err)
	}
	tx.AuthorityChanged()
	return after, nil
}

func remove(ctx context.Context, tx *op.Tx, r *ent.RoutingRule, _ op.ByID) (struct{}, error) {
	tx.AuthorityChanged()
	return op.Remove(ctx, tx, r, tx.RoutingRule.DeleteOne(r).Exec)
}

// checkNew returns everything that is wrong with a new rule, outside of a transaction.
func checkNew(ctx context.Context, tx *op.Tx, in CreateInput) error {
	details, err := faults(ctx, tx, in.When)
	if err != nil {
		return err
	}
	assign := routingrule.AssignTo(op.Or(in.AssignTo, string(routingrule.DefaultAssignTo)))
	return check(ctx, tx, details, in.TeamID, in.TeamID, assign, in.Priority == nil)
}

// checkChange returns everything that is wrong with a change of a rule, outside of a transaction.
func checkChange(ctx context.Context, tx *op.Tx, in UpdateInput) error {
	before, err := tx.RoutingRule.Get(ctx, in.ID)
	if err != nil {
		return err
	}
	var details []apperr.Detail
	if when, ok := op.Given(in.When); ok {
		if details, err = faults(ctx, tx, when); err != nil {
			return err
		}
	}
	_, err = in.check(ctx, tx, details, before)
	return err
}

// check reports the faults of a rule: details are those of the condition, others a named team that is no row of the company, an
// assignment without a team, and, with idle, a rule that does nothing without a team.
func check(ctx context.Context, tx *op.Tx, details []apperr.Detail, named, teamID *string, assign routingrule.AssignTo, idle bool) error {
	var refs op.Refs
	for _, d := range details {
		refs.Fault(d.Field, d.Message)
	}
	refs.Check("teamId", named, "team", op.FindShared(ctx, tx, func(id string) *ent.TeamQuery { return tx.Team.Query().Where(team.ID(id)) }))
	if assign != routingrule.AssignToNone && teamID == nil {
		refs.Fault("assignTo", "needs a team")
	} else if idle && teamID == nil {
		refs.Fault("teamId", "is required unless priority is given: the rule would do nothing")
	}
	return refs.Err()
}
