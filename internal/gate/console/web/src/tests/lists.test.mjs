import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Kind, parse, print, visit } from 'graphql';
import { expect, it } from 'vitest';

// parts are shown of a list on purpose, each for a reason.
const parts = {
  'Find.search': 'the hits for a word', 'HomeFind.search': 'the hits for a word', 'FindRequests.requests': 'the hits for a word', 'SavedReplies.savedReplies': 'the hits for a word',
  'Notices.notifications': 'the newest ones; the page of all notices has the others', 'UnreadNotices.notifications': 'it is asked until none is left',
  'Home.mine': 'the newest ones, beside how many there are', 'Home.assigned': 'the newest ones, beside how many there are', 'Home.late': 'the newest ones, beside how many there are',
  'Home.tasks': 'the newest ones; the page of tasks has the others', 'Home.approvals': 'the newest ones; the page of tasks has the others',
  'Home.services': 'whether any of them has an offering, in a company that begins', 'WorkflowDrafts.workflows': 'the newest ones, beside how many there are',
  'AgentFull.evaluations': 'the newest ones', 'RequestRuns.agentRuns': 'the newest ones, beside how many there are', 'WaitingProposals.agentActions': 'a note at the newest requests; the page of proposals has all',
  'AgentRunOne.actions': 'the first steps of a run', 'RequestRuns.actions': 'the first steps of a run', 'ApplyProposal.actions': 'the first steps of a run', 'DecideAction.actions': 'the first steps of a run',
  'MailedReports.reportSubscriptions': 'a person has ten at most',
};

const src = join(fileURLToPath(import.meta.url), '../..');
const all = parse(readdirSync(src, { recursive: true }).filter((f) => f.endsWith('.graphql')).sort().map((f) => readFileSync(join(src, f), 'utf8')).join('\n'));
const fragments = new Map(all.definitions.filter((d) => d.kind === Kind.FRAGMENT_DEFINITION).map((d) => [d.name.value, d]));

// selects reports whether a selection has one of some fields, directly or by one of its fragments.
const selects = (selection, names) => selection.selections.some((s) => (s.kind === Kind.FIELD ? names.includes(s.name.value) : s.kind === Kind.FRAGMENT_SPREAD && selects(fragments.get(s.name.value).selectionSet, names)));

// lists are the lists that documents read, each with what distinguishes it from others of its name.
function lists() {
  const found = [];
  for (const d of all.definitions) {
    visit(d, { Field(node) {
      const first = node.arguments.find((a) => a.name.value === 'first');
      if (!first || first.value.value === '1' || !node.selectionSet) return; // one row is asked for, or how many there are
      const args = node.arguments.filter((a) => a.name.value !== 'after').map(print).sort().join(', ');
      found.push({ of: `${d.name.value}.${node.alias?.value ?? node.name.value}`, key: `${node.name.value}(${args})`, on: node.arguments.some((a) => a.name.value === 'after'), told: selects(node.selectionSet, ['pageInfo', 'totalCount']) });
    } });
  }
  return found;
}

// A list is read to its end where its document takes `after`, or says where it goes on and another document reads on from there.
it('reads each list to its end', () => {
  const found = lists();
  const readOn = new Set(found.filter((l) => l.on).map((l) => l.key));
  expect(found.length).toBeGreaterThan(60);
  expect(found.filter((l) => !l.on && !(l.told && readOn.has(l.key))).map((l) => l.of).sort()).toEqual(Object.keys(parts).sort());
});
