// Package condition tells those who write a condition what it can read, and tries it before it is kept. It knows every place that takes
// one: decisions and validations of workflows, routing rules, filters of agents, mappings of inbound webhooks, and visibleWhen of forms.
//
//	Fields   what a condition of a place can compare: expression, label, type, values
//	Check    whether an expression compiles there, what it gives for a sample, and how many of the last requests it matches
//
// Both read only. They need the right to read what stands at the place (routingrule.read for rules, and so on) and requests, and
// read rows as the caller sees them: a row of another company is answered as one that does not exist. Expressions run as costly work,
// under the limits of package definition; those over many requests have 300 ms together.
//
// The console writes conditions as rows (web/src/parts/conditions.ts). Its tests/conditions.json lists what it writes: vitest and
// this package's tests read the same file, so that the rows compile and hold as they say, also for answers that are absent or null.
package condition
