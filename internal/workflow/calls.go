package workflow

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/workflow"
	"atrium/ent/workflowversion"
	"atrium/internal/op"
	"atrium/internal/workflow/definition"
)

// checkCalls returns a validation error for each call of a draft that could not run once it is published: of a workflow that is not
// active, that calls this one, itself or by others, or whose own calls are nested too deep. Two workflows that are published at the same
// moment may call each other nevertheless: then the depth of calls ends it when they run. It names the workflows that the caller sees.
func checkCalls(ctx context.Context, tx *op.Tx, w *ent.Workflow, refs []definition.Reference) error {
	if len(refs) == 0 {
		return nil
	}
	all := tx.Unfiltered(ctx, "whether calls end is no matter of what the caller sees")
	g := callGraph{rows: map[string]*ent.Workflow{w.ID: w}, calls: map[string][]string{w.ID: distinct(refs)}}
	for next := g.calls[w.ID]; len(next) > 0; {
		var err error
		if next, err = g.read(all, tx, next); err != nil {
			return err
		}
	}
	seen, err := tx.Workflow.Query().Where(workflow.IDIn(sortedKeys(g.rows)...)).IDs(ctx)
	if err != nil {
		return fmt.Errorf("read the called workflows: %w", err)
	}
	g.seen = seen
	var faults op.Refs
	for _, ref := range refs {
		called := g.rows[ref.ID]
		switch {
		case ref.ID == w.ID:
			faults.Fault(ref.Field, "A workflow cannot call itself.")
		case called == nil || called.Status != workflow.StatusActive || called.Version == 0: // nil: deleted since it was looked up
			faults.Fault(ref.Field, fmt.Sprintf("The workflow %s is not published and active.", g.names([]string{ref.ID})))
		default:
			if chain := g.chain(ref.ID, w.ID); chain != nil {
				faults.Fault(ref.Field, fmt.Sprintf("The workflows would call one another without end: %s.", g.names(append([]string{w.ID}, chain...))))
			} else if deep := g.deepest(ref.ID); len(deep) > definition.MaxDepth {
				faults.Fault(ref.Field, fmt.Sprintf("Workflows may call one another %d deep: %s.", definition.MaxDepth, g.names(append([]string{w.ID}, deep...))))
			}
		}
	}
	return faults.Err()
}

// calling matches workflows whose last published version calls any of several.
func calling(ids ...string) predicate.Workflow {
	each := make([]predicate.Workflow, len(ids))
	for i, id := range ids {
		each[i] = publishedWith("workflow", id)
	}
	return workflow.Or(each...)
}

// callGraph says which workflows call which by their published versions.
type callGraph struct {
	rows  map[string]*ent.Workflow
	calls map[string][]string
	seen  []string // by the caller
}

// read adds workflows to the graph, and returns those that they call and that are not in it yet.
func (g *callGraph) read(ctx context.Context, tx *op.Tx, ids []string) (next []string, err error) {
	rows, err := tx.Workflow.Query().Where(workflow.IDIn(ids...)).
		Select(workflow.FieldID, workflow.FieldCompanyID, workflow.FieldName, workflow.FieldStatus, workflow.FieldVersion).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the called workflows: %w", err)
	}
	var last []predicate.WorkflowVersion
	for _, row := range rows {
		if g.rows[row.ID] == nil {
			g.rows[row.ID] = row
			last = append(last, workflowversion.And(workflowversion.WorkflowID(row.ID), workflowversion.Version(row.Version)))
		}
	}
	if len(last) == 0 {
		return nil, nil
	}
	versions, err := tx.WorkflowVersion.Query().Where(workflowversion.Or(last...)).Select(workflowversion.FieldWorkflowID, workflowversion.FieldUses).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what the called workflows call: %w", err)
	}
	for _, v := range versions {
		for _, use := range v.Uses {
			id, isCall := strings.CutPrefix(use, "workflow:")
			if !isCall {
				continue
			}
			g.calls[v.WorkflowID] = append(g.calls[v.WorkflowID], id)
			if g.rows[id] == nil && !slices.Contains(next, id) {
				next = append(next, id)
			}
		}
	}
	return next, nil
}

// chain returns the workflows by which calls lead from one to another, with both; nil if none do.
func (g *callGraph) chain(from, to string) []string {
	before := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g.calls[queue[0]] {
			if _, seen := before[next]; seen {
				continue
			}
			before[next] = queue[0]
			queue = append(queue, next)
		}
	}
	if _, leads := before[to]; !leads {
		return nil
	}
	var path []string
	for at := to; at != ""; at = before[at] {
		path = append([]string{at}, path...)
	}
	return path
}

// deepest returns the longest chain of calls that begins with a workflow, up to one more than is allowed.
func (g *callGraph) deepest(from string) []string {
	paths := map[string][]string{from: {from}} // of the last round: by the workflow with which they end
	for range definition.MaxDepth {
		further := map[string][]string{}
		for _, end := range sortedKeys(paths) {
			for _, next := range g.calls[end] {
				if further[next] == nil {
					further[next] = append(slices.Clone(paths[end]), next)
				}
			}
		}
		if len(further) == 0 {
			break
		}
		paths = further
	}
	return paths[sortedKeys(paths)[0]]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// names names workflows, with arrows between them.
func (g *callGraph) names(ids []string) string {
	var names []string
	for _, id := range ids {
		name := "another one"
		if slices.Contains(g.seen, id) {
			name = fmt.Sprintf("%q", short(g.rows[id].Name))
		}
		names = append(names, name)
	}
	return strings.Join(names, " → ")
}
