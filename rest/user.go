package rest

import (
	"atrium/ent"
	"atrium/internal/people"
)

// User is a member of the company.
type User struct {
	ID         string            `json:"id" doc:"The user's id, usr_…" example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Email      string            `json:"email" doc:"In lower case; unique in the company." example:"ada@example.com"`
	Name       string            `json:"name" example:"Ada Osei"`
	Role       string            `json:"role" enum:"owner,admin,agent,member"`
	Status     string            `json:"status" enum:"invited,active,deactivated,erased" example:"active"`
	Attributes map[string]string `json:"attributes" doc:"What access policies may ask for as principal.attributes." example:"{\"department\": \"finance\"}"`
	TeamIDs    []string          `json:"teamIds" doc:"The teams that the user is in, ordered by id." example:"[\"team_01k9ye4ryzf7stj6dqnm8x2v3b\"]"`
	MFAEnabled bool              `json:"mfaEnabled" doc:"Whether signing in takes a second factor."`
	LastSeenAt *Time             `json:"lastSeenAt" doc:"When the user last called; null before the first time." example:"2026-03-02T09:30:00.000Z"`
	CreatedAt  Time              `json:"createdAt"`
	UpdatedAt  Time              `json:"updatedAt"`
}

func (u User) unseen() any {
	u.LastSeenAt = nil
	return u
}

// userOut renders a user that was loaded with its memberships.
func userOut(u *ent.User) User {
	return User{
		ID:         u.ID,
		Email:      u.Email,
		Name:       u.Name,
		Role:       string(u.Role),
		Status:     string(u.Status),
		Attributes: tagsOut(u.Attributes),
		TeamIDs:    people.TeamIDs(u),
		MFAEnabled: u.MfaEnabled,
		LastSeenAt: atOrNil(u.LastSeenAt),
		CreatedAt:  at(u.CreatedAt),
		UpdatedAt:  at(u.UpdatedAt),
	}
}
