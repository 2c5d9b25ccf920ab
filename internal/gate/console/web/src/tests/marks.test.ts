import { expect, it } from 'vitest';
import { marked, type Mark } from '../parts/marks';

// A selection stands between [ and ].
function on(text: string, mark: Mark) {
  const from = text.indexOf('[');
  const now = marked(text.replace(/[[\]]/g, ''), from, text.indexOf(']') - 1, mark);
  return `${now.text.slice(0, now.from)}[${now.text.slice(now.from, now.to)}]${now.text.slice(now.to)}`;
}

it('marks what is selected, and takes the mark off again', () => {
  const bold: Mark = { wrap: ['**', '**'] };
  expect(on('a [b] c', bold)).toBe('a **[b]** c');
  expect(on('a **[b]** c', bold)).toBe('a [b] c');
  expect(on('a []', bold)).toBe('a **[]**');
});

it('marks whole lines', () => {
  const list: Mark = { line: '- ' };
  expect(on('one\ntw[o\nthr]ee', list)).toBe('one\n[- two\n- thr]ee');
  expect(on('[- two\n- three]', list)).toBe('[two\nthree]');
  expect(on('[]', list)).toBe('[- ]');
});
