package rest

import (
	"atrium/ent"
	"atrium/internal/people"
)

// Team is a group of users.
type Team struct {
	ID             string   `json:"id" doc:"The team's id, team_…"`
	Name           string   `json:"name"`
	Slug           string   `json:"slug" doc:"Unique in the company."`
	Description    *string  `json:"description"`
	OrganizationID *string  `json:"organizationId" doc:"The organization that the team belongs to, or null."`
	MemberIDs      []string `json:"memberIds" doc:"The users in the team, ordered by id."`
	CreatedAt      Time     `json:"createdAt"`
	UpdatedAt      Time     `json:"updatedAt"`
}

// teamOut renders a team that was loaded with its members.
func teamOut(t *ent.Team) Team {
	return Team{
		ID:             t.ID,
		Name:           t.Name,
		Slug:           t.Slug,
		Description:    textOrNil(t.Description),
		OrganizationID: t.OrganizationID,
		MemberIDs:      people.MemberIDs(t),
		CreatedAt:      at(t.CreatedAt),
		UpdatedAt:      at(t.UpdatedAt),
	}
}
