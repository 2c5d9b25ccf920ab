package rest

import "atrium/ent"

// Secret is a secret as answers show it; its value is in none.
type Secret struct {
	ID          string  `json:"id"`
	Name        string  `json:"name" doc:"What workflows call it: secrets.NAME."`
	Description *string `json:"description"`
	Version     int     `json:"version" doc:"Counts the values that it has had."`
	CreatedBy   string  `json:"createdBy" doc:"The user or service account that made it."`
	LastUsedAt  *Time   `json:"lastUsedAt"`
	CreatedAt   Time    `json:"createdAt"`
	UpdatedAt   Time    `json:"updatedAt"`
}

func secretOut(s *ent.Secret) Secret {
	return Secret{
		ID: s.ID, Name: s.Name, Description: textOrNil(s.Description), Version: s.Version, CreatedBy: s.CreatedBy,
		LastUsedAt: atOrNil(s.LastUsedAt), CreatedAt: at(s.CreatedAt), UpdatedAt: at(s.UpdatedAt),
	}
}
