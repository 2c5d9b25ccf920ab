package jobs

import (
	"context"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"atrium/internal/platform/store"
)

// analyzeEvery is how often a node looks whether tables have grown so much that their statistics mislead the planner.
const analyzeEvery = time.Hour

// AnalyzeArgs are the arguments of the job that analyzes tables, which has none.
type AnalyzeArgs struct{}

// Kind names the job.
func (AnalyzeArgs) Kind() string { return "analyze" }

type analyzer struct {
	river.WorkerDefaults[AnalyzeArgs]
	store *store.Store

	mu   sync.Mutex
	seen map[string]int // rows of each table when it was analyzed
}

// Work analyzes what has grown.
func (a *analyzer) Work(ctx context.Context, _ *river.Job[AnalyzeArgs]) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.store.Analyze(ctx, a.seen)
}
