// celwords completes what somebody writes of an expression: the values that are known there, and the functions of CEL.

// A Word can be taken: code is what then stands there.
export interface Word { code: string; label: string }

const functions = ['has', 'size', 'fold', 'date', 'timestamp', 'duration', 'string', 'int', 'double', 'bool', 'type', 'math.greatest', 'math.least'].map((f): Word => ({ code: `${f}(`, label: '' })); // not said
const methods = [
  'contains', 'startsWith', 'endsWith', 'matches', 'size', 'lowerAscii', 'upperAscii', 'trim', 'split', 'replace', 'substring', 'indexOf', 'join', 'format', 'map', 'filter', 'exists', 'all', 'exists_one', // not said
  'orValue', 'getFullYear', 'getMonth', 'getDate', 'getDayOfWeek', 'getHours', 'getMinutes', // not said
];

const most = 8;
const token = /[A-Za-z_]\w*(?:\s*\.\s*\w*|\["[^"\\]*"\])*(?:\["[^"\\]*)?$/;

// begun is the part of a name that stands before the caret, and where it begins; null within a text and where no name begins. In a template
// only what stands in ${…} is an expression.
export function begun(text: string, at: number, template: boolean): { from: number; said: string } | null {
  let code = text.slice(0, at);
  let start = 0;
  if (template) {
    start = code.lastIndexOf('${') + 2;
    if (start < 2 || code.indexOf('}', start) >= 0) return null;
    code = code.slice(start);
  }
  const bare = code.replace(/\["[^"\\]*("\]?)?$/, (m) => ' '.repeat(m.length)).replace(/\["[^"\\]*"\]/g, (m) => ' '.repeat(m.length)).replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '');
  if (/["']/.test(bare)) return null;
  const said = token.exec(code)?.[0];
  if (!said) return null;
  const before = code[code.length - said.length - 1] ?? '';
  return /[\d.]/.test(before) ? null : { from: start + code.length - said.length, said };
}

// offered are the words that go on from what was begun, values first: those that begin so, then those with such a label or last name, and the
// methods behind a value.
export function offered(said: string, words: readonly Word[]): Word[] {
  const low = said.toLowerCase();
  const begins = words.filter((w) => w.code.toLowerCase().startsWith(low) && w.code !== said).sort((a, b) => depth(a.code) - depth(b.code) || (a.code < b.code ? -1 : 1));
  const tail = /\.\s*(\w*)$/.exec(said);
  const called = tail ? methods.filter((m) => m.startsWith(tail[1] ?? '') && m !== tail[1]).map((m) => ({ code: `${said.slice(0, said.length - (tail[1] ?? '').length)}${m}(`, label: '' })) : functions.filter((f) => f.code.toLowerCase().startsWith(low));
  const alike = tail || low.length < 2 ? [] : words.filter((w) => !begins.includes(w) && (w.label.toLowerCase().includes(low) || (/\w+$/.exec(w.code)?.[0] ?? '').toLowerCase().startsWith(low)));
  const behind = tail && words.some((w) => w.code === said.slice(0, said.length - tail[0].length)) && begins.length === 0;
  return [...begins, ...alike, ...(!tail || behind ? called : [])].slice(0, most);
}

const depth = (code: string): number => (code.match(/[.[]/g) ?? []).length;
