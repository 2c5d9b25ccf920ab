package rest

import (
	"atrium/ent"
	"atrium/internal/people"
)

// User is a member of the company.
type User struct {
	ID         string            `json:"id" doc:"The user's id, usr_…"`
	Email      string            `json:"email" doc:"In lower case; unique in the company."`
	Name       string            `json:"name"`
	Role       string            `json:"role" enum:"owner,admin,agent,member"`
	Status     string            `json:"status" enum:"invited,active,deactivated"`
	Attributes map[string]string `json:"attributes" doc:"What access policies may ask for as principal.attributes."`
	TeamIDs    []string          `json:"teamIds" doc:"The teams that the user is in, ordered by id."`
	MFAEnabled bool              `json:"mfaEnabled" doc:"Whether signing in takes a second factor."`
	LastSeenAt *Time             `json:"lastSeenAt" doc:"When the user last called; null before the first time."`
	CreatedAt  Time              `json:"createdAt"`
	UpdatedAt  Time              `json:"updatedAt"`
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
