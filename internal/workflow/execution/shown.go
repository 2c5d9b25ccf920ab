package execution

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/execution"
	"atrium/ent/phasevisit"
	"atrium/ent/predicate"
	"atrium/ent/task"
	"atrium/ent/workflowversion"
	"atrium/internal/desk/form"
	"atrium/internal/desk/participant"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/text"
	"atrium/internal/workflow"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// The limits of what a task or an approval shows of earlier results.
const (
	maxShownFields = 50   // of a phase
	maxShownText   = 1000 // characters of a value
	lookBack       = 500  // visits before that of the task or approval
)

// The operations behind Task.shown and Approval.shown: what the phases of many rows show, by the rows' ids. Who reads the row reads this,
// and needs no right to its execution.
var (
	LookUpShownByTasks = op.New("task.shown", op.Spec{
		Resource: "Task", Action: op.Read, Scope: "requests:read", Summary: "Read the earlier results that tasks show",
	}, func(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string][]*Shown, error) {
		q := tx.Task.Query().Where(task.IDIn(in.IDs...))
		if me := tx.Principal().ID; tx.AssignedOnly() {
			q.Where(task.Or(participant.Works(me), participant.Asked(me)))
		}
		rows, err := q.All(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the tasks: %w", err)
		}
		return shownTo(ctx, tx, rows, ofTask)
	})

	LookUpShownByApprovals = op.New("approval.shown", op.Spec{
		Resource: "Approval", Action: op.Read, Scope: "requests:read", Summary: "Read the earlier results that approvals show",
	}, func(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string][]*Shown, error) {
		q := tx.Approval.Query().Where(approval.IDIn(in.IDs...))
		if me := tx.Principal().ID; tx.AssignedOnly() {
			q.Where(approval.Or(participant.Approves(me), participant.AskedToo(me)))
		}
		rows, err := q.All(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the approvals: %w", err)
		}
		return shownTo(ctx, tx, rows, ofApproval)
	})
)

// Shown is what a phase has left behind, as those see it who work a later task or decide a later approval.
type Shown struct {
	PhaseID string        `json:"phaseId"`
	Name    string        `json:"name"`
	Branch  *string       `json:"branch"` // in which it was, with those around it; nil outside of blocks
	Fields  []*ShownField `json:"fields"` // at least one
}

// ShownField is one value of a Shown. Type is that of the form's field, outcome for the way that a task or an approval took, or else that
// of the JSON value: text, number, boolean, list, object.
type ShownField struct {
	Key   string          `json:"key"`
	Label string          `json:"label"`
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// ofOutcome is the type of the field that says by which way a task or an approval was left.
const ofOutcome = "outcome"

// asked is a task or an approval as far as it decides what it shows.
type asked struct {
	id, executionID, phaseID string
	visit, attempt           int
	signOff                  bool
}

func ofTask(t *ent.Task) asked {
	return asked{t.ID, t.ExecutionID, t.PhaseID, t.Visit, t.Attempt, false}
}

func ofApproval(a *ent.Approval) asked {
	return asked{a.ID, a.ExecutionID, a.PhaseID, a.Visit, a.Attempt, a.SignOff}
}

// shownTo returns what rows show that the caller has read, by their ids.
func shownTo[Row any](ctx context.Context, tx *op.Tx, rows []*Row, of func(*Row) asked) (map[string][]*Shown, error) {
	list := make([]asked, len(rows))
	for i, row := range rows {
		list[i] = of(row)
	}
	return shown(tx.Unfiltered(ctx, "who reads a task or an approval reads what its phase shows"), tx.Client, list)
}

// shown reads what tasks and approvals show, by their ids. It takes five statements at most, one more for definitions that this process
// has not read yet, and one where phases were left at incidents, however many there are.
func shown(ctx context.Context, db *ent.Client, list []asked) (map[string][]*Shown, error) {
	if len(list) == 0 {
		return nil, nil
	}
	outlines, err := outlinesOf(ctx, db, list)
	if err != nil {
		return nil, err
	}
	histories, err := visitsBefore(ctx, db, list)
	if err != nil {
		return nil, err
	}
	chosen := map[string][]*ent.PhaseVisit{}
	for _, a := range list {
		chosen[a.id] = choose(a, outlines[a.executionID], histories[a.executionID])
	}
	if err := byHand(ctx, db, chosen); err != nil {
		return nil, err
	}
	own, err := underSignOff(ctx, db, list, histories)
	if err != nil {
		return nil, err
	}
	for id, v := range own {
		chosen[id] = append(chosen[id], v)
	}
	if err := readOutputs(ctx, db, chosen); err != nil {
		return nil, err
	}
	out := make(map[string][]*Shown, len(list))
	for _, a := range list {
		phases := []*Shown{}
		for _, v := range chosen[a.id] {
			one, err := shownOf(v, outlines[a.executionID])
			if err != nil {
				return nil, err
			}
			if len(one.Fields) > 0 {
				phases = append(phases, one)
			}
		}
		out[a.id] = phases[max(0, len(phases)-definition.MaxShows):]
	}
	return out, nil
}

// outlines caches the outlines of versions as versions caches the versions, and is as safe.
var outlines, _ = lru.New[versionKey, definition.Outline](512)

// outlinesOf returns the outlines that executions follow, by the ids of the executions.
func outlinesOf(ctx context.Context, db *ent.Client, list []asked) (map[string]definition.Outline, error) {
	var ids []string
	for _, a := range list {
		ids = append(ids, a.executionID)
	}
	rows, err := db.Execution.Query().Where(execution.IDIn(ids...)).
		Select(execution.FieldID, execution.FieldWorkflowID, execution.FieldWorkflowVersion).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the executions: %w", err)
	}
	known := map[versionKey]definition.Outline{}
	var missing []predicate.WorkflowVersion
	for _, e := range rows {
		key := versionKey{e.WorkflowID, e.WorkflowVersion}
		if o, ok := outlines.Get(key); ok {
			known[key] = o
		} else {
			missing = append(missing, workflowversion.And(workflowversion.WorkflowID(e.WorkflowID), workflowversion.Version(e.WorkflowVersion)))
		}
	}
	if len(missing) > 0 {
		versions, err := db.WorkflowVersion.Query().Where(workflowversion.Or(missing...)).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the versions: %w", err)
		}
		for _, v := range versions {
			key := versionKey{v.WorkflowID, v.Version}
			if known[key], err = definition.OutlineOf(workflow.AsSent(v.Definition)); err != nil {
				return nil, err
			}
			outlines.Add(key, known[key])
		}
	}
	out := make(map[string]definition.Outline, len(rows))
	for _, e := range rows {
		out[e.ID] = known[versionKey{e.WorkflowID, e.WorkflowVersion}]
	}
	return out, nil
}

// visitsBefore returns the visits up to those of tasks and approvals in order, without what they were given and left behind, by the ids of
// their executions.
func visitsBefore(ctx context.Context, db *ent.Client, list []asked) (map[string][]*ent.PhaseVisit, error) {
	type span struct{ from, to int }
	spans := map[string]span{}
	for _, a := range list {
		s, more := spans[a.executionID]
		if !more {
			s = span{a.visit - lookBack, a.visit}
		}
		spans[a.executionID] = span{min(s.from, a.visit-lookBack), max(s.to, a.visit)}
	}
	var of []predicate.PhaseVisit
	for _, id := range slices.Sorted(maps.Keys(spans)) {
		of = append(of, phasevisit.And(phasevisit.ExecutionID(id), phasevisit.NumberGTE(spans[id].from), phasevisit.NumberLTE(spans[id].to)))
	}
	rows, err := db.PhaseVisit.Query().Where(phasevisit.Or(of...)).Order(phasevisit.ByExecutionID(), phasevisit.ByNumber()).
		Select(phasevisit.FieldID, phasevisit.FieldExecutionID, phasevisit.FieldNumber, phasevisit.FieldPhaseID, phasevisit.FieldType,
			phasevisit.FieldStatus, phasevisit.FieldTransition, phasevisit.FieldAttempts, phasevisit.FieldBranch).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the visits: %w", err)
	}
	out := map[string][]*ent.PhaseVisit{}
	for _, v := range rows {
		out[v.ExecutionID] = append(out[v.ExecutionID], v)
	}
	return out, nil
}

// choose returns the visits whose results a task or an approval shows, in order: the last one of each phase that is done, in each branch, and
// those after it that were left at an incident, for which somebody may have given the values (byHand).
func choose(a asked, o definition.Outline, history []*ent.PhaseVisit) []*ent.PhaseVisit {
	before := history[:0:0]
	branch := ""
	for _, v := range history {
		if v.Number == a.visit {
			branch = op.Or(v.Branch, "")
		} else if v.Number < a.visit && v.Number >= a.visit-lookBack {
			before = append(before, v)
		}
	}
	before = onTheWay(before, branch)
	if p := o[a.phaseID]; p != nil && p.Shows != nil {
		before = slices.DeleteFunc(before, func(v *ent.PhaseVisit) bool { return !slices.Contains(p.Shows, v.PhaseID) })
	} else {
		before = sinceDecisions(o, before)
	}
	type place struct{ phaseID, branch string }
	seen := map[place]bool{}
	var out []*ent.PhaseVisit
	for _, v := range slices.Backward(before) {
		at := place{v.PhaseID, op.Or(v.Branch, "")}
		if leaves(v) && !seen[at] && len(out) < definition.MaxShows && (v.Status == phasevisit.StatusCOMPLETED || v.Status == phasevisit.StatusSKIPPED) {
			seen[at] = v.Status == phasevisit.StatusCOMPLETED
			out = append(out, v)
		}
	}
	slices.Reverse(out)
	return out
}

// leaves reports whether a visit may leave something behind that tells people something.
func leaves(v *ent.PhaseVisit) bool {
	switch definition.Type(v.Type) {
	case definition.Process, definition.Approval, definition.Data, definition.APICall, definition.CallWorkflow:
		return true
	}
	return false
}

// sinceDecisions leaves out what an approval or a sign-off on the way has had before it. What it has decided itself stays.
func sinceDecisions(o definition.Outline, way []*ent.PhaseVisit) []*ent.PhaseVisit {
	old := map[*ent.PhaseVisit]bool{}
	for i, v := range slices.Backward(way) {
		p := o[v.PhaseID]
		if old[v] || v.Status != phasevisit.StatusCOMPLETED || v.Type != string(definition.Approval) && (p == nil || !p.SignedOff) {
			continue
		}
		for _, earlier := range onTheWay(way[:i], op.Or(v.Branch, "")) {
			old[earlier] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(way), func(v *ent.PhaseVisit) bool { return old[v] })
}

// readOutputs reads what the chosen visits have left behind into them.
func readOutputs(ctx context.Context, db *ent.Client, chosen map[string][]*ent.PhaseVisit) error {
	byID := map[string][]*ent.PhaseVisit{}
	for _, visits := range chosen {
		for _, v := range visits {
			if v.Status == phasevisit.StatusCOMPLETED {
				byID[v.ID] = append(byID[v.ID], v)
			}
		}
	}
	if len(byID) == 0 {
		return nil
	}
	rows, err := db.PhaseVisit.Query().Where(phasevisit.IDIn(slices.Collect(maps.Keys(byID))...)).
		Select(phasevisit.FieldID, phasevisit.FieldOutput).All(ctx)
	if err != nil {
		return fmt.Errorf("read what the phases have left behind: %w", err)
	}
	for _, row := range rows {
		for _, v := range byID[row.ID] {
			v.Output = row.Output
		}
	}
	return nil
}

// underSignOff returns what sign-offs decide on, by their ids: the results of their own tasks. Until the decision they wait in the state of the
// execution, with secrets masked as in a visit; afterwards they are the visit's, unless the sign-off was refused.
func underSignOff(ctx context.Context, db *ent.Client, list []asked, histories map[string][]*ent.PhaseVisit) (map[string]*ent.PhaseVisit, error) {
	out := map[string]*ent.PhaseVisit{}
	var waiting []string
	for _, a := range list {
		i := slices.IndexFunc(histories[a.executionID], func(v *ent.PhaseVisit) bool { return v.Number == a.visit && v.Attempts == a.attempt })
		if !a.signOff || i < 0 {
			continue
		}
		v := *histories[a.executionID][i]
		out[a.id] = &v
		if v.Status == phasevisit.StatusWAITING {
			waiting = append(waiting, a.executionID)
		}
	}
	if len(waiting) == 0 {
		return out, nil
	}
	rows, err := db.Execution.Query().Where(execution.IDIn(waiting...)).Select(execution.FieldID, execution.FieldState).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what awaits sign-off: %w", err)
	}
	for _, row := range rows {
		state, err := readState(row.State)
		if err != nil {
			return nil, err
		}
		for _, v := range out {
			if at := state.At(v.Number); v.ExecutionID == row.ID && at != nil && at.Wait != nil && at.Wait.For == engine.ForSignOff {
				if v.Output, err = encode(at.Wait.Output); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

// shownOf returns what a visit has left behind. The outcome comes first if there are several, then the answers to the form in its order.
func shownOf(v *ent.PhaseVisit, o definition.Outline) (*Shown, error) {
	p := o[v.PhaseID]
	if p == nil { // it has run in a version that the execution does not follow any more
		p = &definition.Outlined{Title: definition.InWords(v.PhaseID)}
	}
	out := &Shown{PhaseID: v.PhaseID, Name: p.Title, Branch: v.Branch}
	var left map[string]json.RawMessage
	if err := decode(v.Output, &left); err != nil {
		return nil, fmt.Errorf("read what %s has left behind: %w", v.PhaseID, err)
	}
	switch definition.Type(v.Type) {
	case definition.Process:
		out.outcome(left[ofOutcome], p.Ways > 1)
		delete(left, ofOutcome)
	case definition.Approval:
		out.outcome(left[ofOutcome], true)
		delete(left, ofOutcome)
		delete(left, "decisions") // the approval itself tells who has decided
	case definition.Data:
		delete(left, "valid") // if the data were wrong, a task or a way of its own says so
		delete(left, "errors")
	case definition.APICall:
		delete(left, "status")
	case definition.CallWorkflow:
		var err error
		if left, err = ofCalled(left["phases"]); err != nil {
			return nil, err
		}
	}
	for _, f := range p.Questions {
		out.add(f.Key, cmp.Or(f.Label, definition.InWords(f.Key)), f.Type, left[f.Key])
		delete(left, f.Key)
	}
	for _, key := range slices.Sorted(maps.Keys(left)) {
		out.add(key, labelOf(key), "", left[key])
	}
	return out, nil
}

// labelOf returns what people read of a name that no form labels: "Unit price", and "Quote: Unit price" of what a called workflow has left.
func labelOf(key string) string {
	parts := strings.Split(key, ".")
	for i, part := range parts {
		parts[i] = definition.InWords(part)
	}
	return strings.Join(parts, ": ")
}

// ofCalled returns what a called workflow has left behind, by the phase and the name: "quote.price".
func ofCalled(raw json.RawMessage) (map[string]json.RawMessage, error) {
	var phases map[string]map[string]json.RawMessage
	if err := decode(raw, &phases); err != nil {
		return nil, fmt.Errorf("read what a called workflow has left behind: %w", err)
	}
	out := map[string]json.RawMessage{}
	for id, left := range phases {
		for key, value := range left {
			if !slices.Contains([]string{ofOutcome, "decisions", "valid", "errors", "status"}, key) {
				out[id+"."+key] = value
			}
		}
	}
	return out, nil
}

func (s *Shown) outcome(raw json.RawMessage, several bool) {
	var way string
	if several && json.Unmarshal(raw, &way) == nil && way != "" {
		if said, err := json.Marshal(definition.InWords(way)); err == nil {
			s.add(ofOutcome, "Outcome", ofOutcome, said)
		}
	}
}

// add adds a value that says something, as far as there is room.
func (s *Shown) add(key, label string, of form.Type, raw json.RawMessage) {
	raw = bytes.TrimSpace(raw)
	switch string(raw) {
	case "", "null", `""`, "[]", "{}":
		return
	}
	if len(s.Fields) == maxShownFields {
		return
	}
	f := &ShownField{Key: key, Label: text.Short(label, 200), Type: cmp.Or(string(of), typeOf(raw)), Value: raw}
	s.Fields = append(s.Fields, f)
	said := string(raw) // a list or an object
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &said); err != nil {
			return
		}
	}
	if short := text.Short(said, maxShownText); short != said {
		f.Type, f.Value = string(form.Text), encoded(short)
	}
}

// encoded returns a text as JSON, which every text has.
func encoded(s string) json.RawMessage {
	raw, _ := json.Marshal(s)
	return raw
}

// typeOf names the type of a JSON value.
func typeOf(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return string(form.Text)
	case 't', 'f':
		return string(form.Boolean)
	case '[':
		return "list"
	case '{':
		return "object"
	}
	return string(form.Number)
}
