package access

import (
	"atrium/ent/predicate"
	"atrium/ent/user"
)

// Gone reports whether somebody of the status has left the company, deactivated or erased: nobody acts as them, and no work
// goes to them.
func Gone(s user.Status) bool { return s == user.StatusDeactivated || s == user.StatusErased }

// Here selects the users who have not left: somebody invited is one.
func Here() predicate.User { return user.StatusIn(user.StatusInvited, user.StatusActive) }
