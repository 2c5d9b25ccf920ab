// The console takes columns and words for the same as the server does, whose lists stand in Go.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fields, names, words } from '../pages/imports/columns';

const read = (file) => readFileSync(`${process.env.REPOSITORY ?? '../../../..'}/internal/desk/requestimport/${file}`, 'utf8');

describe('what the console knows of a table', () => {
  const table = read('table.go');
  const value = Object.fromEntries([...table.matchAll(/^\t(is\w+(?:, is\w+)*)\s+= (".*")$/gm)].flatMap(([, all, values]) => all.split(', ').map((name, i) => [name, JSON.parse(`[${values}]`)[i]])));

  it('are the fields', () => {
    const [, list] = /columnFields = \[\]string\{([^}]*)\}/.exec(table);
    expect(Object.keys(fields)).toEqual(expect.arrayContaining(list.match(/is\w+/g).map((n) => value[n])));
    expect(Object.keys(fields)).toHaveLength(list.match(/is\w+/g).length);
  });
  it('are the headings', () => {
    const [, list] = /headings = map\[string\]string\{([^}]*)\}/.exec(table);
    const there = [...list.matchAll(/"([^"]+)": (is\w+)/g)].map(([, heading, field]) => `${heading} ${value[field]}`);
    expect(there.length).toBeGreaterThan(50);
    expect(Object.entries(names).flatMap(([field, all]) => all.split(' ').map((n) => `${n} ${field}`)).toSorted()).toEqual(there.toSorted());
  });
  it.each(['status', 'priority'])('are the words of a %s', (of) => {
    const row = read('row.go');
    const [, list] = (of === 'status' ? /statuses = words\(map\[string\]string\{([^}]*)\}/ : /priorities = words\(map\[string\]string\{([^}]*)\}/).exec(row);
    expect(words[of]).toEqual(Object.fromEntries([...list.matchAll(/"([A-Z_]+)":?\s*"([^"]*)"/g)].map(([, v, all]) => [v, all])));
  });
});
