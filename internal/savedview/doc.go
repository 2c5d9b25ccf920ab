// Package savedview keeps the lists that people come back to: a name, and the query of the address that shows the list. The
// product does not read the query; whoever opens a view reads by it with their own rights, so that a view shows nobody more.
//
// A view is seen by whoever made it ("me"), by a team's members ("team") or by everybody ("company"). Making one that others see
// takes savedview.share, which members do not have. Whoever made a view changes and deletes it; so do admins, where others see it.
// Access policies are not about views: there is nothing in them but a name and words of a filter.
//
// A team's views go with the team. A person has at most 100.
package savedview
