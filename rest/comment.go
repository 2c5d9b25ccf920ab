package rest

import "atrium/ent"

// Comment is a comment on a request as answers show it.
type Comment struct {
	ID         string `json:"id" example:"cmt_01k9ye4ryzf7stj6dqnm8x2v3b"`
	RequestID  string `json:"requestId" example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
	AuthorID   string `json:"authorId" doc:"The user or service account that wrote it." example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Body       string `json:"body" example:"It has arrived."`
	Visibility string `json:"visibility" enum:"public,internal" doc:"Internal ones are shown to agents, admins and owners alone."`
	CreatedAt  Time   `json:"createdAt"`
	UpdatedAt  Time   `json:"updatedAt"`
}

func commentOut(c *ent.Comment) Comment {
	return Comment{
		ID: c.ID, RequestID: c.RequestID, AuthorID: c.AuthorID, Body: c.Body, Visibility: string(c.Visibility),
		CreatedAt: at(c.CreatedAt), UpdatedAt: at(c.UpdatedAt),
	}
}
