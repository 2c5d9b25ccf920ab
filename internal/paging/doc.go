// Package paging is where lists are paged, for both doors.
//
//	declare.go   a list, a look-up by ids and a list of children as operations, each declared by its query alone
//	page.go      pages by number, as REST asks for them
//	cursor.go    windows after a cursor, as connections of the graph ask for them
//	children.go  the windows of many parents in one statement
//	counter.go   totals that triggers keep
//	filter.go    filters that lists have in common
//
// A domain declares its lists with it; the doors fill Page in. What the caller may see it does not decide: the tenancy
// guard and the access policies narrow every query that Ent runs, and package op those that are written here.
//
// Every list is ordered by one column and then by the id, or by columns that an index continues with, so that pages never
// overlap and a cursor is one comparison of the whole key, which the index answers.
package paging
