// Package console serves the web console: the pages at /app that people work in. cmd/atrium mounts it beside the doors.
//
// The pages are written in TypeScript below web/, and bundled by build.sh (go generate) into dist, which is committed: building
// and running Atrium takes Go alone. `-tags noconsole` leaves the bundle out. During development `serve --console-dir
// internal/console/web/dist` reads the files anew for every call.
//
// The server gives the pages no data but the product's own addresses and version. What they show comes from /graphql with the
// session's cookie, which no script can read; a page of the product's origin may run the documents of dist/documents.json and no
// others.
//
// Decisions:
//   - A policy without any unsafe-* source and with Trusted Types: the libraries were chosen by that. The nonce is for
//     stylesheets that an editor makes by script, and new for every answer.
//   - Everything below /app that is no asset is the index, so that links to any page work; elsewhere unknown paths stay the
//     API's 404. A missing asset is 404: a page that an update has left behind finds out rather than running HTML.
//   - Assets have a hash in their names and are kept for a year; they are compressed once, when the process starts.
//
// It never reads the database and asks nobody who they are.
package console
