package policy

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/accesspolicy"
	"atrium/ent/accesspolicyversion"
	"atrium/ent/company"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
)

// The limits of one company. Every statement that its policies narrow contains all their conditions on the rows that it reads,
// and the database parses it while others wait. On two busy cores, 8,000 globs made another company's writes on SQLite take 10
// times as long (p99), and 1,000 make them take 1.2 times as long (BenchmarkNeighbour).
const (
	Limit         = 200       // policies, disabled ones included
	maxConditions = 1_000     // of all enabled policies together, one condition for each operator
	maxGlobs      = 50        // of these: a decision takes up to 0.1 ms for a glob on a text of 10,000 characters
	maxBytes      = 256 << 10 // of JSON, of all enabled policies' conditions together
)

var sorts = op.Sorts{"createdAt": accesspolicy.FieldCreatedAt, "updatedAt": accesspolicy.FieldUpdatedAt, "name": op.Alphabetical(accesspolicy.FieldName)}

// The operations on access policies. They require a signed-in person; owners may always read and write policies.
var (
	List = paging.NewList("accesspolicy.list", op.Spec{
		Resource: "AccessPolicy", Action: op.Read, AdminLayer: true, Sorts: sorts,
		Summary: "List the company's access policies",
	}, func(_ context.Context, tx *op.Tx, _ ListInput) *ent.AccessPolicyQuery { return tx.AccessPolicy.Query() })

	Get = op.Get("accesspolicy.read", op.Spec{
		Resource: "AccessPolicy", Action: op.Read, AdminLayer: true,
		Summary: "Get an access policy",
	}, load)

	Create = op.New("accesspolicy.create", op.Spec{
		Resource: "AccessPolicy", Action: op.Create, AdminLayer: true,
		Summary: "Create an access policy, in force at once",
	}, create).Prepared(prepareCreate).WithCheck(func(ctx context.Context, tx *op.Tx, in CreateInput) error {
		p, err := prepareCreate(ctx, tx, in)
		return refusal(p, err)
	}, "condition")

	Update = op.OnRow("accesspolicy.update", op.Spec{
		Resource: "AccessPolicy", Action: op.Update, AdminLayer: true,
		Summary: "Change an access policy, in force at once",
	}, load, update).Prepared(prepareUpdate).WithCheck(func(ctx context.Context, tx *op.Tx, in UpdateInput) error {
		p, err := prepareUpdate(ctx, tx, in)
		return refusal(p, err)
	}, "condition")

	Delete = op.OnRow("accesspolicy.delete", op.Spec{
		Resource: "AccessPolicy", Action: op.Delete, AdminLayer: true,
		Summary: "Delete an access policy",
	}, load, remove)
)

// ListInput pages the list of policies.
type ListInput struct {
	paging.Page
}

func load(ctx context.Context, tx *op.Tx, id string) (*ent.AccessPolicy, error) {
	return op.Lock(tx, tx.AccessPolicy.Query().Where(accesspolicy.ID(id))).Only(ctx)
}

// CreateInput describes a new policy.
type CreateInput struct {
	Name        string     `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Description *string    `json:"description,omitempty" nullable:"true" maxLength:"10000"`
	Enabled     *bool      `json:"enabled,omitempty" nullable:"true" doc:"Starts enabled."`
	Effect      string     `json:"effect" doc:"Allow, Deny or RequireApproval. What denies beats what allows; what requires an approval has agents wait for a person and binds nobody else."`
	Action      string     `json:"action" doc:"read, create, update, delete or *."`
	Resource    string     `json:"resource" doc:"Service, Request, … or *."`
	Condition   *Condition `json:"condition,omitempty" nullable:"true" doc:"{path: value}; all entries must hold. Without any it holds always."`
}

// prepared is a policy that was compiled before the transaction, or its faults.
type prepared struct {
	draft    Draft
	compiled *authz.Compiled
	err      error
	version  int // version of the row that the change applies to
}

func prepareCreate(ctx context.Context, tx *op.Tx, in CreateInput) (any, error) {
	p := prepared{draft: Draft{Effect: in.Effect, Action: in.Action, Resource: in.Resource, Condition: op.Or(in.Condition, Condition{})}}
	err := p.compile(ctx, tx, false)
	return p, err
}

// refusal returns the faults of a policy that was prepared.
func refusal(p any, err error) error {
	if draft, ok := p.(prepared); ok && err == nil {
		return draft.err
	}
	return err
}

// compile records the result of compiling the draft; saved is true for a policy that was saved before.
func (p *prepared) compile(ctx context.Context, tx *op.Tx, saved bool) error {
	return tx.Costly(ctx, func(ctx context.Context) error {
		if p.compiled, p.err = p.draft.compileAs(ctx, tx, saved); p.err != nil && apperr.CodeOf(p.err) != apperr.Validation {
			return p.err
		}
		return nil
	})
}

func create(ctx context.Context, tx *op.Tx, in CreateInput) (*ent.AccessPolicy, error) {
	draft, _ := op.Preparation[prepared](tx)
	if draft.err != nil {
		return nil, draft.err
	}
	if err := lockAll(ctx, tx); err != nil {
		return nil, err
	}
	p, err := tx.AccessPolicy.Create().
		SetID(id.New("pol")).
		SetName(in.Name).
		SetDescription(op.Or(in.Description, "")).
		SetEnabled(op.Or(in.Enabled, true)).
		SetEffect(accesspolicy.Effect(in.Effect)).
		SetAction(in.Action).
		SetResource(in.Resource).
		SetCondition(draft.compiled.Condition).
		SetCreatedBy(tx.Principal().ID).
		Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the access policy: %w", err)
	}
	if err := inBounds(ctx, tx); err != nil {
		return nil, err
	}
	return p, changed(ctx, tx, nil, p)
}

// lockAll keeps others from adding policies until the transaction ends, so that two callers cannot both add the last allowed
// one. Call it before anything is written, because an insert takes a shared lock of its company's row.
func lockAll(ctx context.Context, tx *op.Tx) error {
	if _, err := op.Lock(tx, tx.Company.Query().Where(company.ID(tx.Principal().CompanyID))).OnlyID(ctx); err != nil {
		return fmt.Errorf("lock the company: %w", err)
	}
	return nil
}

// inBounds returns conflict when the company now exceeds its limits.
func inBounds(ctx context.Context, tx *op.Tx) error {
	rows, err := tx.AccessPolicy.Query().All(tx.Unfiltered(ctx, "policies that the caller does not see count, too"))
	if err != nil {
		return fmt.Errorf("read the access policies: %w", err)
	}
	conditions, globs, bytes := 0, 0, 0
	for _, row := range rows {
		if !row.Enabled {
			continue
		}
		n, g, err := authz.Size(row.Condition)
		if err != nil {
			return err
		}
		conditions, globs, bytes = conditions+n, globs+g, bytes+len(row.Condition)
	}
	switch {
	case len(rows) > Limit:
		return apperr.New(apperr.Conflict, "A company has at most %d access policies.", Limit)
	case conditions > maxConditions:
		return apperr.New(apperr.Conflict, "The enabled access policies of a company have at most %d conditions together. With this one they would have %d.",
			maxConditions, conditions)
	case globs > maxGlobs:
		return apperr.New(apperr.Conflict, "The enabled access policies of a company have at most %d globs together. With this one they would have %d.",
			maxGlobs, globs)
	case bytes > maxBytes:
		return apperr.New(apperr.Conflict, "The conditions of a company's enabled access policies take at most %d KiB of JSON together.", maxBytes>>10)
	}
	return nil
}

// UpdateInput changes the fields that it names.
type UpdateInput struct {
	op.ByID
	Name        op.Patch[string]    `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Description op.Patch[string]    `json:"description,omitzero" nullable:"true" maxLength:"10000"`
	Enabled     op.Patch[bool]      `json:"enabled,omitzero"`
	Effect      op.Patch[string]    `json:"effect,omitzero"`
	Action      op.Patch[string]    `json:"action,omitzero"`
	Resource    op.Patch[string]    `json:"resource,omitzero"`
	Condition   op.Patch[Condition] `json:"condition,omitzero" nullable:"true" doc:"Replaces the condition whole."`
}

// prepareUpdate compiles the policy as it would become.
func prepareUpdate(ctx context.Context, tx *op.Tx, in UpdateInput) (any, error) {
	before, err := tx.AccessPolicy.Get(ctx, in.ID)
	if ent.IsNotFound(err) {
		return nil, nil // the operation reports the missing row
	}
	if err != nil {
		return nil, fmt.Errorf("read the access policy: %w", err)
	}
	draft := Draft{Effect: string(before.Effect), Action: before.Action, Resource: before.Resource, Condition: NewCondition(before.Condition)}
	unchanged := !in.Effect.IsSet() && !in.Action.IsSet() && !in.Resource.IsSet() && !in.Condition.IsSet()
	op.Set(in.Effect, func(v string) *Draft { draft.Effect = v; return &draft })
	op.Set(in.Action, func(v string) *Draft { draft.Action = v; return &draft })
	op.Set(in.Resource, func(v string) *Draft { draft.Resource = v; return &draft })
	if in.Condition.IsSet() {
		draft.Condition = op.Or(in.Condition.Value(), Condition{})
	}
	p := prepared{draft: draft, version: before.Version}
	err = p.compile(ctx, tx, unchanged)
	return p, err
}

func update(ctx context.Context, tx *op.Tx, before *ent.AccessPolicy, in UpdateInput) (*ent.AccessPolicy, error) {
	p, ok := op.Preparation[prepared](tx)
	switch {
	case !ok, p.version != before.Version:
		return nil, op.ErrOutdated
	case p.err != nil:
		return nil, p.err
	}
	grows := in.Condition.IsSet() || in.Enabled.IsSet()
	if grows {
		if err := lockAll(ctx, tx); err != nil {
			return nil, err
		}
	}
	u := before.Update().
		SetEffect(accesspolicy.Effect(p.draft.Effect)).SetAction(p.draft.Action).SetResource(p.draft.Resource).SetCondition(p.compiled.Condition)
	op.Set(in.Name, u.SetName)
	op.SetOrClear(in.Description, u.SetDescription, func() *ent.AccessPolicyUpdateOne { return u.SetDescription("") })
	op.Set(in.Enabled, u.SetEnabled)
	if changes, err := op.Changes(ctx, u.Mutation()); err != nil {
		return nil, err
	} else if changes {
		u.SetVersion(before.Version + 1)
	}
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("change the access policy: %w", err)
	}
	if after == before {
		return before, nil // no change, so no new version
	}
	if grows {
		if err := inBounds(ctx, tx); err != nil {
			return nil, err
		}
	}
	return after, changed(ctx, tx, before, after)
}

func remove(ctx context.Context, tx *op.Tx, p *ent.AccessPolicy, _ op.ByID) (struct{}, error) {
	if err := tx.AccessPolicy.DeleteOne(p).Exec(ctx); err != nil {
		return struct{}{}, fmt.Errorf("delete the access policy: %w", err)
	}
	return struct{}{}, changed(ctx, tx, p, nil)
}

// changed records a change: its version and the audit entry's diff. It invalidates cached policies.
func changed(ctx context.Context, tx *op.Tx, before, after *ent.AccessPolicy) error {
	change, version, of := accesspolicyversion.ChangeUpdated, 1, after
	switch {
	case before == nil:
		change = accesspolicyversion.ChangeCreated
	case after == nil:
		change, of = accesspolicyversion.ChangeDeleted, before
	}
	if before != nil {
		version = before.Version + 1
	}
	actor := tx.Principal().Actor()
	c := tx.AccessPolicyVersion.Create().SetPolicyID(of.ID).SetVersion(version).SetChange(change).
		SetActorType(actor.Type).SetActorID(actor.ID).SetActorName(actor.Name)
	if before != nil {
		text, err := json.Marshal(stateOf(before))
		if err != nil {
			return fmt.Errorf("write the policy's version: %w", err)
		}
		c.SetBefore(text)
	}
	if err := c.Exec(ctx); err != nil {
		return fmt.Errorf("write the policy's version: %w", err)
	}
	tx.AuthorityChanged()
	if before == nil {
		tx.Changed(nil, after)
	} else if after == nil {
		tx.Changed(before, nil)
	} else {
		tx.Changed(before, after)
	}
	return nil
}

// State is the content of a policy at some time.
type State struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Enabled     bool            `json:"enabled"`
	Effect      string          `json:"effect"`
	Action      string          `json:"action"`
	Resource    string          `json:"resource"`
	Condition   json.RawMessage `json:"condition"`
}

func stateOf(p *ent.AccessPolicy) State {
	return State{
		Name: p.Name, Description: p.Description, Enabled: p.Enabled, Effect: string(p.Effect), Action: p.Action, Resource: p.Resource,
		Condition: p.Condition,
	}
}

// Draft is a policy that is not stored; it shows what would be in force.
type Draft struct {
	Effect    string    `json:"effect" doc:"Allow, Deny or RequireApproval."`
	Action    string    `json:"action" doc:"read, create, update, delete or *."`
	Resource  string    `json:"resource" doc:"Service, Request, … or *."`
	Condition Condition `json:"condition,omitempty"`
}

// compile compiles the draft. Returns validation_error with a detail for each fault.
func (d Draft) compile(ctx context.Context, tx *op.Tx) (*authz.Compiled, error) {
	return d.compileAs(ctx, tx, false)
}

// compileAs is compile; saved is true for a policy that was saved before.
func (d Draft) compileAs(ctx context.Context, tx *op.Tx, saved bool) (*authz.Compiled, error) {
	text, err := d.Condition.read()
	if err != nil {
		return nil, err
	}
	p := authz.Policy{Effect: d.Effect, Action: d.Action, Resource: d.Resource, Condition: text, Kept: saved}
	return tx.Authz().Compile(ctx, p)
}
