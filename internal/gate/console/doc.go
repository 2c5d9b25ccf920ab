// Package console serves the web console: the pages at /app in which people work. cmd/atrium mounts it beside the APIs.
//
// The pages are written in TypeScript in web/. build.sh (run by go generate) bundles them into dist, which is committed: building
// and running Atrium needs only Go. `-tags noconsole` leaves the bundle out. During development, `serve --console-dir
// internal/gate/console/web/dist` reads the files again for every call.
//
// What the pages repeat of the schema is generated: types, enums, and what the client's cache must know (web/cache.mjs): which types have
// no row of their own, which lists are read page by page, and which lists a mutation makes stale. Of a mutation that creates or
// deletes these follow from its name, and another one changes the row that it returns; what it changes besides, its document says by
// @refetch(fields: "tasks Workflow.versions"). The build and a test fail for a mutation that neither covers.
//
// A page says each text by t, plural or placed (web/src/app/text.tsx), in English; web/src/locales has what it is in other languages. A
// test fails for a text that is said otherwise, and for one that a catalogue lacks. What people wrote is never translated, and its
// elements have dir="auto".
//
// The server gives the pages no data except the product's addresses and version. They read everything else from /graphql with the
// session's cookie, which no script can read. A page of the product's origin may run only the documents of dist/documents.json
// and of --graphql-trusted-only.
//
// Decisions:
//   - The content security policy has no unsafe-* source and requires Trusted Types; the libraries were chosen accordingly. The nonce is
//     for stylesheets that an editor creates by script, and is new for every answer.
//   - Every path below /app that is no asset returns the index, so that links to any page work. Unknown paths elsewhere stay the API's
//     404. A missing asset is 404: a page from before an update then fails to load it, rather than running HTML as a script.
//   - Assets have a hash in their names and are cached for a year. They are compressed once, when the process starts.
//
// The package never reads the database and authenticates nobody.
package console
