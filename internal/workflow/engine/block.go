package engine

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"atrium/internal/workflow/definition"
)

// blockPhase runs the branches of a PARALLEL or a FOR_EACH. Its visit lasts until the block is left for its end.
type blockPhase struct{}

func (blockPhase) enter(r *run, p *definition.Phase) {
	b := &Block{}
	if p.Block.In != nil {
		v, err := p.Block.In.Value(r.ctx, r.bind())
		list, isList := v.([]any)
		switch {
		case err == nil && !isList:
			err = errors.New("it gives no list")
		case len(list) > definition.MaxItems:
			err = fmt.Errorf("it gives a list of %d, and %d are allowed", len(list), definition.MaxItems)
		}
		if err != nil {
			r.failedExpression("in", err)
			return
		}
		b.Items = list
		r.state.Visit.Input = map[string]any{"count": len(list)}
		r.note()
	}
	if r.state.Block = b; r.tooLarge() {
		r.state.Block = nil
	}
}

func (blockPhase) resume(*run, *definition.Phase, Input) error { return ErrStale }

// joinPhase is the end of a block. It leaves by failed if a fault has ended the block.
type joinPhase struct{}

func (joinPhase) enter(r *run, p *definition.Phase) {
	output, _ := r.state.Phases[p.ID].(map[string]any)
	way := definition.Next
	if output[fault] != nil {
		way = definition.JoinFailed
	}
	r.leave(p, way, output)
}

func (joinPhase) resume(*run, *definition.Phase, Input) error { return ErrStale }

// The variables of a JOIN.
const (
	completedBranches = "completed"
	cancelledBranches = "cancelled"
	results           = "results"
	fault             = "fault"
)

// in returns the run of one of the state's branches.
func (r *run) in(b *Branch) *run { return &run{step: r.step, state: &b.State, up: r, branch: b} }

func (r *run) root() *run {
	for r.up != nil {
		r = r.up
	}
	return r
}

// path returns the names of the branches around the state, from the outermost, with " / " between them.
func (r *run) path() string {
	var names []string
	for ; r.up != nil; r = r.up {
		names = append([]string{r.branch.Name}, names...)
	}
	return strings.Join(names, " / ")
}

// startOf returns the phase with which a branch of the state's block starts.
func (r *run) startOf(b *Branch) *definition.Phase {
	c := r.phase().Block
	return c.Branches[c.Index(b.Name)].Start
}

// takeInBranch hands an input to the branch that has its visit.
func (r *run) takeInBranch(in Input) error {
	if r.state.Block != nil {
		for _, b := range r.state.Block.Branches {
			if b.State.At(in.visit()) != nil {
				return r.in(b).take(in)
			}
		}
	}
	return ErrStale
}

// advanceBranches goes on in every branch of the block, in their order, and begins further ones. Reports whether the block was left or
// has failed, so that the state goes on itself.
func (r *run) advanceBranches() bool {
	b := r.state.Block
	for i := 0; ; i++ {
		if r.settle() {
			return true
		}
		if i == len(b.Branches) {
			next := r.further()
			if next == nil {
				break
			}
			b.Branches = append(b.Branches, next)
		}
		r.in(b.Branches[i]).advance()
	}
	r.state.Status = Waiting
	for _, one := range b.Branches {
		if one.State.Status == Running {
			r.state.Status = Running
		}
	}
	if r.mayBegin() {
		r.state.Status = Running
	}
	return false
}

// further returns a branch to begin now; nil for none.
func (r *run) further() *Branch {
	if !r.mayBegin() || !r.may() {
		return nil
	}
	n, c := len(r.state.Block.Branches), r.phase().Block
	if c.In != nil {
		return newBranch(strconv.Itoa(n + 1))
	}
	for _, one := range c.Branches {
		if r.state.Block.branch(one.Name) == nil {
			return newBranch(one.Name)
		}
	}
	return nil
}

// mayBegin reports whether the block has a branch that is to begin now.
func (r *run) mayBegin() bool {
	b, c, open := r.state.Block, r.phase().Block, 0
	for _, one := range b.Branches {
		if !one.State.Status.Final() {
			open++
		}
	}
	return len(b.Branches) < b.all(c) && (c.In == nil || open < c.MaxParallel)
}

// settle leaves the block if enough branches have completed, or if one has failed. A failure that nothing around catches is the state's
// own. Reports whether it has.
func (r *run) settle() bool {
	b, p, completed := r.state.Block, r.phase(), 0
	for _, one := range b.Branches {
		switch one.State.Status {
		case Failed:
			r.broken(p, one.State.Fault)
			return true
		case Completed:
			completed++
		}
	}
	if completed < p.Block.Needed(b.all(p.Block)) {
		return false
	}
	if p.Block.In == nil {
		for _, one := range b.Branches {
			if one.State.Status == Completed {
				maps.Copy(r.state.Phases, one.State.Phases)
			}
		}
	}
	r.state.Phases[p.Block.End.ID] = outcome(p, b)
	r.closeBranches(&Fault{PhaseID: p.ID, Code: BranchCancelled, Message: "Enough branches of the block have completed."})
	r.leave(p, definition.Joined, nil)
	return true
}

// broken ends the block for the fault of a branch.
func (r *run) broken(p *definition.Phase, f *Fault) {
	r.closeBranches(&Fault{PhaseID: p.ID, Code: BranchCancelled, Message: clip("Another branch of the block has failed: " + f.Message)})
	if p.Block.Cancels && f.Code != TooManySteps && f.Code != VariablesTooLarge {
		r.state.Phases[p.Block.End.ID] = map[string]any{fault: map[string]any{"phaseId": f.PhaseID, "code": f.Code, "message": f.Message}}
		r.leave(p, definition.Joined, nil)
		return
	}
	r.state.Status, r.state.Wait, r.state.Fault = Failed, nil, f
	r.state.Visit.Fault = f
	r.finish(Failed, "")
}

// outcome returns what the JOIN of a block tells of its branches.
func outcome(p *definition.Phase, b *Block) map[string]any {
	if p.Block.In != nil {
		list := []any{}
		for _, one := range b.Branches {
			if one.State.Status == Completed {
				list = append(list, one.State.Phases)
			}
		}
		return map[string]any{results: list}
	}
	completed, cancelled := []any{}, []any{}
	for _, one := range p.Block.Branches {
		if begun := b.branch(one.Name); begun != nil && begun.State.Status == Completed {
			completed = append(completed, one.Name)
		} else {
			cancelled = append(cancelled, one.Name)
		}
	}
	return map[string]any{completedBranches: completed, cancelledBranches: cancelled}
}

// closeBranches ends what is open in the branches of the state's block, and the block with it. It needs no definition.
func (r *run) closeBranches(why *Fault) {
	if r.state.Block == nil {
		return
	}
	for _, b := range r.state.Block.Branches {
		one := r.in(b)
		if one.state.Status.Final() {
			continue
		}
		one.closeBranches(why)
		if v := one.state.Visit; v != nil && v.FinishedAt == nil {
			one.closeOpen()
			v.cutOff(why)
			one.finish(Skipped, "")
		}
	}
	r.state.Block = nil
}

// caught reports whether a block around the state has onFault cancel.
func (r *run) caught() bool {
	for up := r.up; up != nil; up = up.up {
		if up.phase().Block.Cancels {
			return true
		}
	}
	return false
}

// variables returns what expressions read as phases: those of the states around, the item, and the state's own.
func (r *run) variables() map[string]any {
	if r.up == nil {
		return r.state.Phases
	}
	all := maps.Clone(r.up.state.item(r.branch, r.up.phase(), r.up.variables()))
	maps.Copy(all, r.state.Phases)
	return all
}
