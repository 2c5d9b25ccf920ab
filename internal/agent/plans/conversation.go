package plans

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"atrium/internal/agent/model"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
	"atrium/internal/platform/text"
	"atrium/internal/workflow/execution"
)

const (
	maxFaults = 3 // in a row; they end a run
	maxTokens = 2048
)

// toolHandOver is the tool that leaves the request to people.
const toolHandOver = "handOver"

// Conversation is a conversation with a model about a request or a task. It performs no writes: reads run with the rights of the run, and
// writes are checked and kept until the end.
type Conversation struct {
	*Decider
	mask func(any) any
	now  func() time.Time

	messages []model.Message
	known    map[string]bool // ids that were read
	asked    map[string]bool // calls with their arguments
	faults   int             // in a row
	used     usage
	steps    []runs.Step
	writes   []tools.Write
	Over     bool
	Reason   string // why the run is handed over
}

// begin starts the conversation with the input of the engine.
func (t *Conversation) begin(g Input) {
	orders, _ := t.mask(t.Subject.orders(t.Settings)).(string) // masked too, because people paste keys into instructions
	t.messages = []model.Message{{Role: model.System, Content: orders}, {Role: model.Data, Content: g.Data}}
	t.known, t.asked = map[string]bool{}, map[string]bool{}
	for _, id := range g.IDs {
		t.known[id] = true
	}
	t.steps, t.used = append(t.steps, g.Steps...), g.Used
	t.spend(false)
}

// AddExchange adds an exchange to the conversation. It ends with an answer that calls no tool, and when a limit is reached.
func (t *Conversation) AddExchange(n Exchange) {
	t.used.Calls++
	t.used.Input += n.Answer.InputTokens
	t.used.Output += n.Answer.OutputTokens
	t.used.Millis += n.Answer.Millis
	t.messages = append(t.messages, model.Message{Role: model.Assistant, Content: n.Answer.Content, Calls: n.Answer.Calls})
	for i, r := range n.Results {
		t.messages = append(t.messages, model.Message{Role: model.Result, Content: r.Content, CallID: r.CallID})
		t.asked[same(n.Answer.Calls[i])] = true
		for _, id := range r.IDs {
			t.known[id] = true
		}
		if r.Step != nil {
			s := *r.Step
			s.N = len(t.steps) + 1
			t.steps = append(t.steps, s)
		}
		if r.Write != nil {
			t.writes = append(t.writes, *r.Write)
		}
		if t.faults++; !r.Faulty {
			t.faults = 0
		}
		if r.End != "" {
			t.end(r.End)
		}
	}
	finished := len(n.Answer.Calls) == 0
	if t.Over {
		return
	}
	if t.spend(finished); t.faults >= maxFaults && !t.Over {
		t.end("The model called tools wrongly three times in a row.")
	}
	t.Over = t.Over || finished
}

// spend hands the run over if it has used more than its limits, or all that one of them allows although it has not finished.
func (t *Conversation) spend(finished bool) {
	out := func(used, limit int64) bool { return used > limit || used == limit && !finished }
	switch l := t.Settings.Limits; {
	case len(t.steps) > l.Steps:
		t.end(l.NoSteps())
	case out(int64(t.used.Calls), int64(l.ModelCalls)):
		t.end(fmt.Sprintf("The run has had its %d calls of the model.", l.ModelCalls))
	case out(int64(t.used.tokens()), int64(l.Tokens)):
		t.end(fmt.Sprintf("The run has had its %d tokens.", l.Tokens))
	case out(t.used.Millis, int64(l.Minutes)*time.Minute.Milliseconds()):
		t.end(fmt.Sprintf("The run has had its %d minutes.", l.Minutes))
	}
}

// end hands the run over and drops its writes.
func (t *Conversation) end(reason string) { t.Over, t.Reason, t.writes = true, reason, nil }

// Ask calls the model, runs the tools of its answer and returns both.
func (t *Conversation) Ask(ctx context.Context, at model.Endpoint) (Exchange, error) {
	tools, err := t.tools()
	if err != nil {
		return Exchange{}, err
	}
	answer, err := at.Ask(ctx, t.messages, tools, min(maxTokens, max(t.Settings.Limits.Tokens-t.used.tokens(), 1)))
	if err != nil {
		return Exchange{}, err
	}
	return t.answered(ctx, answer, nil)
}

// answered runs the tools of an answer. Where recorded holds the result of a read, it uses that instead.
func (t *Conversation) answered(ctx context.Context, answer model.Answer, recorded []result) (Exchange, error) {
	answer.Content, _ = t.mask(answer.Content).(string)
	out := Exchange{Answer: answer, Results: []result{}}
	pending := *t // the state between the calls of one answer
	pending.asked, pending.writes = maps.Clone(t.asked), slices.Clone(t.writes)
	steps := len(t.steps)
	for i, c := range answer.Calls {
		var r result
		var err error
		key := same(c)
		switch {
		case pending.asked[key]:
			r = result{Content: "{}", End: "The model asked for the same a second time."}
		case i < len(recorded) && recorded[i].Read:
			r = recorded[i]
		case steps >= t.Settings.Limits.Steps && c.Name != toolHandOver:
			r = result{Content: "{}", End: t.Settings.Limits.NoSteps()}
		default:
			r, err = pending.call(ctx, c)
		}
		if err != nil {
			return Exchange{}, err
		}
		pending.asked[key] = true
		if r.Step != nil {
			steps++
		}
		if r.Write != nil {
			pending.writes = append(pending.writes, *r.Write)
		}
		r.CallID = c.ID
		out.Results = append(out.Results, r)
	}
	return out, nil
}

// same returns an equal string for calls with the same name and arguments.
func same(c model.Call) string {
	var v any
	if json.Unmarshal([]byte(c.Arguments), &v) == nil {
		if raw, err := json.Marshal(v); err == nil {
			return c.Name + " " + string(raw)
		}
	}
	return c.Name + " " + c.Arguments
}

// RefusalOf returns the error if it is a refusal; false for nil and for errors on our side.
func RefusalOf(err error) (*apperr.Error, bool) {
	told, ok := errors.AsType[*apperr.Error](err)
	return told, ok && told.Code != apperr.Internal && told.Code != apperr.Unavailable
}

// faulty returns the result of a wrong call, which tells the model the error.
func faulty(told *apperr.Error) result {
	body, _ := json.Marshal(map[string]any{"error": told.Code, "message": told.Message, "details": told.Details}) // cannot fail
	return result{Content: string(body), Faulty: true}
}

// call makes one tool call. An error of the model becomes the result; only errors on our side are returned.
func (t *Conversation) call(ctx context.Context, c model.Call) (result, error) {
	arguments := map[string]json.RawMessage{}
	if c.Arguments == "" {
		return faulty(apperr.InvalidField("arguments", "must be an object of at most %d bytes", model.MaxArguments)), nil
	}
	if err := strictjson.Check([]byte(c.Arguments)); err != nil {
		return faulty(apperr.InvalidField("arguments", "is not valid JSON")), nil
	}
	if err := json.Unmarshal([]byte(c.Arguments), &arguments); err != nil {
		return faulty(apperr.InvalidField("arguments", "must be an object")), nil
	}
	if c.Name == toolHandOver {
		var reason string
		if json.Unmarshal(arguments["reason"], &reason) != nil || text.Blank(reason) {
			return faulty(apperr.InvalidField("reason", "is required")), nil
		}
		return result{Content: "{}", End: "The agent says: " + text.Short(text.Plain(reason), tools.MaxRationale)}, nil
	}
	if r := readNamed(c.Name); r != nil {
		return t.runRead(r, arguments)
	}
	w, err := t.checkWrite(ctx, c.Name, arguments)
	if told, ok := RefusalOf(err); ok {
		return faulty(told), nil
	}
	if err != nil {
		return result{}, err
	}
	return result{Content: `{"kept":true}`, Write: w, Step: &runs.Step{
		Kind: "decide", Operation: w.Tool, Rows: w.Rows, Arguments: w.Arguments, Result: w.Rationale, At: t.now().UTC(),
	}}, nil
}

// runRead runs a read.
func (t *Conversation) runRead(r *readTool, arguments map[string]json.RawMessage) (result, error) {
	rows, ids, err := r.run(t.Read, t.engine, arguments)
	if told, ok := RefusalOf(err); ok {
		return faulty(told), nil
	}
	if err != nil {
		return result{}, err
	}
	raw, err := json.Marshal(t.mask(map[string]any{"data": rows}))
	if err != nil {
		return result{}, fmt.Errorf("write the rows: %w", err)
	}
	if len(raw) > maxData {
		return faulty(apperr.InvalidField("q", "must find less: it is more than can be shown")), nil
	}
	args, err := json.Marshal(arguments)
	return result{Content: string(raw), Read: true, IDs: ids, Step: &runs.Step{
		Kind: "read", Operation: r.name, Rows: ids[:min(shownRows, len(ids))], Arguments: args, Result: fmt.Sprintf("Looked at %d rows.", len(rows)), At: t.now().UTC(),
	}}, worker.Wrap("write the arguments", err)
}

// checkWrite checks a write against the run's tools, the operation's rules, the ids that were read, the agent's rights and the
// company's policies. Returns *apperr.Error for errors that the model is told.
func (t *Conversation) checkWrite(ctx context.Context, name string, arguments map[string]json.RawMessage) (*tools.Write, error) {
	tool := tools.Named(name)
	if tool == nil || !t.offers(name) {
		return nil, apperr.New(apperr.Forbidden, "There is no such tool.")
	}
	if slices.ContainsFunc(t.writes, func(w tools.Write) bool { return w.Tool == name }) {
		return nil, apperr.New(apperr.Conflict, "%s was called already. Each write is called once, with all that it changes.", name)
	}
	w := &tools.Write{Tool: name, Rows: t.lookedAt()}
	if json.Unmarshal(arguments["rationale"], &w.Rationale) != nil || text.Blank(w.Rationale) {
		return nil, apperr.InvalidField("rationale", "is required")
	}
	if json.Unmarshal(arguments["confidence"], &w.Confidence) != nil || w.Confidence < 0 || w.Confidence > 1 {
		return nil, apperr.InvalidField("confidence", "must be a number from 0 to 1")
	}
	masked, _ := t.mask(w.Rationale).(string)
	w.Rationale = text.Short(text.Plain(masked), tools.MaxRationale)
	delete(arguments, "rationale")
	delete(arguments, "confidence")
	err := tool.OnlyFields(arguments)
	if err != nil {
		return nil, err
	}
	if w.Arguments, err = json.Marshal(arguments); err != nil {
		return nil, fmt.Errorf("write the arguments: %w", err)
	}
	if err := tool.Check(t.Subject.row(), w.Arguments); err != nil {
		return nil, err
	}
	if err := t.checkIDs(arguments); err != nil {
		return nil, err
	}
	is := tools.ValuesOf(t.Subject.Request)
	if name == tools.Task {
		is = nil
		if err := t.completes(ctx, w.Arguments); err != nil {
			return nil, err
		}
	}
	if err := w.SetChanges(is); err != nil {
		return nil, err
	}
	if w.Idle() {
		return nil, tools.ErrIdle()
	}
	return w, t.mayWrite(ctx, tool, w)
}

// lookedAt returns the ids of the rows that the run has looked at, besides its own, the newest last.
func (t *Conversation) lookedAt() []string {
	rows := []string{}
	for _, s := range t.steps {
		for _, id := range s.Rows {
			if s.Kind == "read" && id != t.Subject.row() && !slices.Contains(rows, id) {
				rows = append(rows, id)
			}
		}
	}
	return rows[max(0, len(rows)-shownRows):]
}

// completes checks the completion of a task against its outcomes and its form.
func (t *Conversation) completes(ctx context.Context, arguments json.RawMessage) error {
	in, err := execution.CompleteTask.Decode(arguments, func(string) string { return t.Subject.row() }, nil)
	if err != nil {
		return fmt.Errorf("read the completion: %w", err)
	}
	_, faults, err := execution.CheckCompletion(ctx, t.engine.Outside(principal.Worker(t.Agent.CompanyID, worker.Name)), in)
	if err == nil && len(faults) > 0 {
		err = apperr.Invalid(faults...)
	}
	return err
}

// checkIDs returns validation_error for an id that the run has not read: in arguments whose names end in Id, and for ids of users
// and teams anywhere.
func (t *Conversation) checkIDs(arguments map[string]json.RawMessage) error {
	for field, raw := range arguments {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("read the argument %s: %w", field, err)
		}
		if t.unread(v, strings.HasSuffix(field, "Id")) {
			return apperr.InvalidField(field, "must be an id that stands in the data or in a result")
		}
	}
	return nil
}

// unread reports whether a value is or contains an id that was not read. named says that the argument's name marks it as an id.
func (t *Conversation) unread(v any, named bool) bool {
	switch v := v.(type) {
	case string:
		return v != "" && (named || id.Valid("usr", v) || id.Valid("team", v)) && !t.known[v]
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return t.unread(one, named) })
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), func(one any) bool { return t.unread(one, false) })
	}
	return false
}
