package rest

import (
	"encoding/base64"

	"github.com/danielgtaylor/huma/v2"

	"atrium/ent"
)

// AuditEntry is an audit entry as answers show it.
type AuditEntry struct {
	ID        string        `json:"id" example:"aud_01k9ye4ryzf7stj6dqnm8x2v3b"`
	At        Time          `json:"at"`
	Actor     AuditActor    `json:"actor" doc:"Who did it; for API keys, the key."`
	Action    string        `json:"action" doc:"Such as request.created." example:"request.updated"`
	Resource  AuditResource `json:"resource" doc:"What it was done to."`
	Outcome   string        `json:"outcome" enum:"allowed,denied,failed"`
	IP        *string       `json:"ip" example:"192.0.2.7"`
	UserAgent *string       `json:"userAgent" example:"curl/8.5.0"`
	RequestID *string       `json:"requestId" doc:"The X-Request-Id of the answer." example:"rid_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Changes   AuditChanges  `json:"changes" doc:"The fields that changed; secrets are masked." example:"{\"status\": {\"from\": \"PENDING\", \"to\": \"IN_PROGRESS\"}}"`
	Index     *int64        `json:"index" doc:"Its place in the company's log, from 0; null until it is sealed, within 10 seconds."`
	LeafHash  *string       `json:"leafHash" doc:"The hash of its leaf in the log, in base64." example:"Y2h1bmt5IGJhY29uIGlzIHRoZSBiZXN0IGJhY29uISE="`
	CreatedAt Time          `json:"createdAt"`
	UpdatedAt Time          `json:"updatedAt"`
}

// AuditActor is who did something.
type AuditActor struct {
	Type string `json:"type" example:"user"`
	ID   string `json:"id" example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Name string `json:"name" example:"Ada Osei"`
}

// AuditResource is what an action was done to. It has no id when a create made no row.
type AuditResource struct {
	Type string  `json:"type" example:"Request"`
	ID   *string `json:"id" example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
}

// AuditChanges are an entry's changes, by field.
type AuditChanges Object

// MarshalJSON writes the changes.
func (c AuditChanges) MarshalJSON() ([]byte, error) { return c, nil }

// Schema describes changes in the OpenAPI document.
func (AuditChanges) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{
		Type:       huma.TypeObject,
		Properties: map[string]*huma.Schema{"from": {}, "to": {}},
		Required:   []string{"from", "to"},
	}}
}

func auditEntryOut(e *ent.AuditEntry) AuditEntry {
	return AuditEntry{
		ID: e.ID, At: at(e.CreatedAt),
		Actor:  AuditActor{Type: e.ActorType, ID: e.ActorID, Name: e.ActorName},
		Action: e.Action, Resource: AuditResource{Type: e.ResourceType, ID: e.ResourceID}, Outcome: string(e.Outcome),
		IP: textOrNil(e.IP), UserAgent: textOrNil(e.UserAgent), RequestID: textOrNil(e.RequestID),
		Changes: AuditChanges(objectOut(e.Changes)), Index: e.Index, LeafHash: bytesOrNil(e.LeafHash), CreatedAt: at(e.CreatedAt), UpdatedAt: at(e.UpdatedAt),
	}
}

// bytesOrNil encodes bytes in base64; nil for no bytes.
func bytesOrNil(b []byte) *string { return textOrNil(base64.StdEncoding.EncodeToString(b)) }
