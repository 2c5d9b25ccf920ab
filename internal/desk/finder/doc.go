// Package finder finds whatever a search box finds: requests by their words, with the piece of text that has them, and services,
// offerings, workflows, people, teams and organizations by the words of their names. Each type is found by its own list, with the caller's
// rights, so that a search shows what that list shows; types that the caller may not list are left out.
package finder
