// Package audience decides for whom a saved view or a saved reply is: for its author alone, for a team or for the company. Admins may
// name any team, others those that they are a member of. The author may change what they made, and so may admins who see it.
//
// Both rows have the same columns (scope, user_id, team_id); the rule stands here once.
package audience
