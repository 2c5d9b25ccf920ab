package access

import (
	"atrium/ent/predicate"
	"atrium/ent/user"
)

// Gone reports whether a user with the status was deactivated or erased: nobody may act as this user, and nobody assigns
// work to this user.
func Gone(s user.Status) bool { return s == user.StatusDeactivated || s == user.StatusErased }

// Here selects the users who were not deactivated or erased, including invited ones.
func Here() predicate.User { return user.StatusIn(user.StatusInvited, user.StatusActive) }
