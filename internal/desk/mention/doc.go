// Package mention finds whom people mention in what they write, by @usr_… or @ada@example.com, and shows them by their names.
//
// A text stays as it was typed, so that a name may change and its author can edit it. Whoever shows it to others than its author, a mail or
// an answer to a member, puts in the names: members may know names, and no addresses.
//
// Callers: request and notice. The package never decides who is told.
package mention
