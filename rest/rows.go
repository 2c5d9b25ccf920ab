package rest

import (
	"atrium/ent"
	"atrium/internal/desk/form"
	"atrium/internal/people"
)

// Form is what a request or the completion of a task must answer.
type Form = form.Definition

// textsOut returns {} for no texts.
func textsOut(texts map[string]string) map[string]string {
	if texts == nil {
		return map[string]string{}
	}
	return texts
}

// textOrNil returns nil for an empty text.
func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// enumOrNil returns nil for no value.
func enumOrNil[E ~string](value *E) *string {
	if value == nil {
		return nil
	}
	return new(string(*value))
}

// The teams of a user that was loaded with its memberships.
func userTeamIDsOut(u *ent.User) []string { return people.TeamIDs(u) }

// The members of a team that was loaded with them.
func teamMemberIDsOut(t *ent.Team) []string { return people.MemberIDs(t) }

func (u User) unseen() any {
	u.LastSeenAt = nil
	return u
}

func (s Secret) unseen() any {
	s.LastUsedAt = nil
	return s
}
