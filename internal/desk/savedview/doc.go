// Package savedview keeps saved views: a name, and the query string of the address that shows a list. The product never
// interprets the query string. A person who opens a view reads the list with their own rights, so a view gives access to nothing.
//
// A view is visible to its author ("me"), to the members of a team ("team") or to the company ("company"). Creating one of the
// last two takes the right savedview.share, which members do not have. The author may change and delete a view, and so may
// admins when they can see it. Access policies do not apply to views, which hold only a name and filter words.
//
// The views of a team are deleted with the team. A person may create at most 100 views. GraphQL calls the operations.
package savedview
