package settings

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentversion"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow/definition"
)

// Published returns the settings of a version.
func Published(ctx context.Context, db *ent.Client, agentID string, version int) (s Settings, err error) {
	v, err := db.AgentVersion.Query().Where(agentversion.AgentID(agentID), agentversion.Version(version)).Only(ctx)
	if err != nil {
		return s, fmt.Errorf("read the agent's version: %w", err)
	}
	if err := json.Unmarshal(v.Settings, &s); err != nil {
		return s, fmt.Errorf("read the settings of %s: %w", v.ID, err)
	}
	s.Limits = s.Limits.OrDefault() // versions older than the limits have none
	return s, nil
}

const filterTimeout = time.Second

// filters caches compiled filters by the hash of their text.
var filters, _ = lru.New[[sha256.Size]byte, *definition.Condition](512)

// FilterHolds reports whether a filter matches; an empty one always does.
func FilterHolds(ctx context.Context, source string, b definition.Bound) bool {
	if source == "" {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, filterTimeout)
	defer cancel()
	key := sha256.Sum256([]byte(source))
	e, ok := filters.Get(key)
	if !ok {
		var faults []apperr.Detail
		if e, faults = definition.ParseCondition(ctx, filterField, source); len(faults) > 0 {
			return false // filters are checked when they are saved
		}
		filters.Add(key, e)
	}
	return e.Holds(ctx, b)
}

// filterField is the name of the filter in errors.
const filterField = "filter"

// CheckFilter returns validation_error if the filter does not compile.
func CheckFilter(ctx context.Context, tx *op.Tx, source string) error {
	if source == "" {
		return nil
	}
	return tx.Costly(ctx, func(ctx context.Context) error {
		if _, rows := definition.ParseCondition(ctx, filterField, source); len(rows) > 0 {
			return apperr.Invalid(rows...)
		}
		return nil
	})
}

// Selected is the agent for a request, with the settings of its version.
type Selected struct {
	Agent    *ent.Agent
	Settings Settings
}

// Digest returns settings as a version stores them, and their SHA-256.
func (s Settings) Digest() (raw json.RawMessage, digest string, err error) {
	if raw, err = json.Marshal(s); err != nil {
		return nil, "", fmt.Errorf("write the settings: %w", err)
	}
	sum := sha256.Sum256(raw)
	return raw, hex.EncodeToString(sum[:]), nil
}

// DraftOf returns the settings of an agent's draft.
func DraftOf(a *ent.Agent) (Settings, error) {
	s := Settings{
		Autonomy: string(a.Autonomy), OwnerID: op.Or(a.OwnerID, ""), Role: string(a.Role), Scopes: a.Scopes, Filter: a.Filter, Sees: string(a.Sees),
		Instructions: a.Instructions, Engine: string(a.Engine), ModelConnectionID: op.Or(a.ModelConnectionID, ""), Model: a.Model, RunsPerDay: a.RunsPerDay, Shadow: a.Shadow, Endpoint: a.EndpointURL,
	}
	var err error
	if s.Limits, err = LimitsOf(a); err != nil {
		return s, err
	}
	tools, err := ToolsOf(a)
	for _, t := range tools {
		s.Tools = append(s.Tools, *t)
	}
	return s, err
}

// Load locks an agent for an operation.
func Load(ctx context.Context, tx *op.Tx, id string) (*ent.Agent, error) {
	return op.Lock(tx, tx.Agent.Query().Where(agent.ID(id))).Only(ctx)
}
