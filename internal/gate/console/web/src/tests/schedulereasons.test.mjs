// The console has words for the reasons that the server gives, which stand in Go.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sentences } from '../parts/schedulewords';

const sources = ['workflow/schedule/work.go', 'workflow/execution/launch.go', 'desk/request/create.go'].map((f) => `${process.env.REPOSITORY ?? '../../../..'}/internal/${f}`);

it.each(Object.keys(sentences))('a schedule that did nothing says: %s', (reason) => {
  expect(sources.filter((f) => readFileSync(f, 'utf8').includes(`"${reason}"`))).toHaveLength(1);
});
