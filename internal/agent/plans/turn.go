package plans

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/agentturn"
	"atrium/internal/agent/model"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
)

// Input is the input of an engine. A run is replayed from it.
type Input struct {
	Request json.RawMessage `json:"request"`           // as it was when the engine read it
	Version string          `json:"version,omitempty"` // of the request then: runs.RequestVersion; empty where a change of it does not matter
	Task    *ent.Task       `json:"task,omitempty"`    // of a run about a task, as it was
	History []string        `json:"history"`           // ids of the finished requests
	Data    string          `json:"data,omitempty"`    // the data message
	IDs     []string        `json:"ids,omitempty"`     // that the data contains
	Steps   []runs.Step     `json:"steps,omitempty"`   // of the run's earlier plans, and that read it
	Used    usage           `json:"used,omitzero"`     // by the run's earlier plans
	Writes  []tools.Write   `json:"writes,omitempty"`  // the decision of the engine history; for a model the turns hold it
}

// Exchange is an answer of a model and the results of its tool calls. A conversation is rebuilt from its exchanges.
type Exchange struct {
	Answer  model.Answer `json:"answer"`
	Results []result     `json:"results"`
}

// result is the result of a tool call.
type result struct {
	CallID  string       `json:"callId"`
	Content string       `json:"content"`
	Faulty  bool         `json:"faulty,omitempty"`
	Read    bool         `json:"read,omitempty"` // a replay takes it from the record
	IDs     []string     `json:"ids,omitempty"`  // that the content contains
	Write   *tools.Write `json:"write,omitempty"`
	Step    *runs.Step   `json:"step,omitempty"`
	End     string       `json:"end,omitempty"` // why the run is handed over; empty if it is not
}

// KeepTurn stores the input of an engine (n = 0), or an exchange.
func KeepTurn(ctx context.Context, tx *op.Tx, run *ent.AgentRun, n int, content any) error {
	raw, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("write the turn: %w", err)
	}
	return worker.Wrap("keep the turn", tx.AgentTurn.Create().SetRunID(run.ID).SetPlan(run.Plans).SetN(n).SetContent(raw).Exec(ctx))
}

// TurnsOf returns the input of a run's engine for a plan, and its exchanges in order.
func TurnsOf(ctx context.Context, db *ent.Client, runID string, plan int) (g Input, turns []Exchange, err error) {
	rows, err := db.AgentTurn.Query().Where(agentturn.RunID(runID), agentturn.Plan(plan)).Order(agentturn.ByN()).All(ctx)
	if err != nil {
		return g, nil, fmt.Errorf("read the run's turns: %w", err)
	}
	for _, row := range rows {
		var n Exchange
		to := any(&n)
		if row.N == 0 {
			to = &g
		}
		if err := json.Unmarshal(row.Content, to); err != nil {
			return g, nil, fmt.Errorf("read the turn %s: %w", row.ID, err)
		}
		if row.N > 0 {
			turns = append(turns, n)
		}
	}
	return g, turns, nil
}

// EarlierIn returns what a run did before its current plan. A plan that has begun goes on from its recorded input instead.
func EarlierIn(ctx context.Context, db *ent.Client, run *ent.AgentRun) (out Earlier, err error) {
	if run.Plans < 2 {
		return out, nil
	}
	steps, err := runs.StepsOf(run)
	if err != nil {
		return out, err
	}
	for _, s := range steps {
		out.steps = append(out.steps, *s)
	}
	out.used = usage{Calls: run.ModelCalls, Input: run.InputTokens, Output: run.OutputTokens}
	g, turns, err := TurnsOf(ctx, db, run.ID, run.Plans-1)
	out.used.Millis = g.Used.Millis
	for _, n := range turns {
		out.used.Millis += n.Answer.Millis
	}
	return out, err
}

// turnsKept is how long a run can be replayed. It is short because the inputs of a run quote many requests.
const turnsKept = 7 * 24 * time.Hour

// Sweeps returns the job that deletes the inputs and turns of old runs.
func Sweeps() jobs.Option {
	return jobs.Sweeps(jobs.Sweep{Rows: "turns of agents", Kept: turnsKept, Delete: deleteTurns})
}

func deleteTurns(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
	ids, err := db.AgentTurn.Query().Where(agentturn.CreatedAtLT(before)).Order(agentturn.ByCreatedAt(), agentturn.ByID()).Limit(limit).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.AgentTurn.Delete().Where(agentturn.IDIn(ids...)).Exec(ctx)
}
