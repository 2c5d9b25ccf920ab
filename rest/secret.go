package rest

import "atrium/ent"

// Secret is a secret as answers show it, without its value.
type Secret struct {
	ID          string  `json:"id" example:"sec_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Name        string  `json:"name" doc:"What workflows call it: secrets.NAME." example:"ERP_TOKEN"`
	Description *string `json:"description" example:"For the ordering system"`
	Version     int     `json:"version" doc:"Counts the values that it has had." example:"1"`
	CreatedBy   string  `json:"createdBy" doc:"The user or service account that made it." example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
	LastUsedAt  *Time   `json:"lastUsedAt" example:"2026-03-02T09:30:00.000Z"`
	CreatedAt   Time    `json:"createdAt"`
	UpdatedAt   Time    `json:"updatedAt"`
}

func (s Secret) unseen() any {
	s.LastUsedAt = nil
	return s
}

func secretOut(s *ent.Secret) Secret {
	return Secret{
		ID: s.ID, Name: s.Name, Description: textOrNil(s.Description), Version: s.Version, CreatedBy: s.CreatedBy,
		LastUsedAt: atOrNil(s.LastUsedAt), CreatedAt: at(s.CreatedAt), UpdatedAt: at(s.UpdatedAt),
	}
}
