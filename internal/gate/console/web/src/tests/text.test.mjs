// What pages say goes through t and plural, and each language says all of it.
import { readFileSync, readdirSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { languages } from '../app/text';
import * as enums from '../gen/enums';
import { inWords } from '../ui/bits';

// These attributes hold no words: names of the API, styles, addresses, keys.
const wordless = /^(className|type|to|key|id|name|role|href|rel|method|value|autoComplete|inputMode|keys|field|at|tone|base|sort|kind|as|d|x|y|viewBox|fill|width|height|points|textAnchor|scope|of|file|prefix|orient|htmlFor|from|autoSelect|aria-labelledby|aria-hidden|aria-keyshortcuts|aria-live|aria-current|aria-haspopup|autoCapitalize|transform|accept|pattern|step|wrap|target|size|dir|lang)$/;

// What words() says besides the schema's enums: types of callers.
const others = ['user', 'service_account', 'api_key', 'agent', 'webhook', 'system', 'operator'];

const letters = /\p{L}/u;
const wordlike = (text) => /^\p{Lu}\p{Ll}+$/u.test(text) || /\p{L}\p{Ll}+[.,:!?…’]? \p{L}/u.test(text);
const literal = (n) => (n && (ts.isStringLiteral(n) || ts.isNoSubstitutionTemplateLiteral(n)) ? n.text : undefined);
const templated = (n) => (ts.isTemplateExpression(n) ? [n.head, ...n.templateSpans.map((s) => s.literal)].map((x) => x.text).join('…') : undefined);

// read returns what a file says in English alone, each with its line, and adds to used the texts that it says by t and plural: under
// the second of plural, both.
function read(file, used) {
  const source = ts.createSourceFile(file, readFileSync(`src/${file}`, 'utf8'), ts.ScriptTarget.ES2022, true, file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  const lines = source.text.split('\n');
  const bare = [];
  const found = (node, text) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    if (!lines[line].includes('// not said')) bare.push(`${file}:${line + 1} ${text}`);
  };
  const walk = (node) => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isNewExpression(node) && /Error$/.test(node.expression.getText())) return;
    if (ts.isCallExpression(node) && ['t', 'plural'].includes(node.expression.getText())) {
      const counts = node.expression.getText() === 'plural';
      const texts = node.arguments.slice(counts ? 1 : 0, counts ? 3 : 1).map(literal);
      if (texts.includes(undefined)) found(node, 'takes texts as they stand');
      else used.set(texts.at(-1), counts ? texts : null);
      node.arguments.forEach((a) => { if (literal(a) === undefined) walk(a); });
      return;
    }
    if (ts.isJsxText(node) && letters.test(node.text)) found(node, node.text.trim());
    if (ts.isJsxAttribute(node) && node.initializer && ts.isStringLiteral(node.initializer)) {
      if (letters.test(node.initializer.text) && !/^[a-z]+\.[a-z_]+$/.test(node.initializer.text) && !wordless.test(node.name.getText())) found(node, `${node.name.getText()}="${node.initializer.text}"`);
      return;
    }
    const text = literal(node) ?? templated(node);
    if (text !== undefined && wordlike(text)) found(node, text);
    ts.forEachChild(node, walk);
  };
  walk(source);
  return bare;
}

const used = new Map([...Object.values(enums).flat(), ...others].map((v) => [inWords(v), null]));
const files = readdirSync('src', { recursive: true }).filter((f) => /\.tsx?$/.test(f) && !/^(tests|gen)\//.test(f) && f !== 'app/text.tsx').sort();
const bare = files.flatMap((f) => read(f, used));

const names = (text) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).toSorted();

describe('what is said', () => {
  it('is said by t or plural', () => { expect(bare).toEqual([]); });

  it.each(Object.keys(languages).filter((l) => l !== 'en'))('is said in %s, and nothing else is', (language) => {
    const said = JSON.parse(readFileSync(`src/locales/${language}.json`, 'utf8'));
    expect([...used.keys()].filter((text) => !(text in said))).toEqual([]);
    expect(Object.keys(said).filter((text) => !used.has(text))).toEqual([]);
    expect(Object.keys(said)).toEqual(Object.keys(said).toSorted());
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted();
    for (const [text, other] of Object.entries(said)) {
      const counts = used.get(text) !== null;
      expect(typeof other, text).toBe(counts ? 'object' : 'string');
      if (counts) expect(Object.keys(other).toSorted(), text).toEqual(forms);
      for (const form of counts ? Object.values(other) : [other]) {
        expect(names(form).filter((n) => !counts || n !== 'n'), text).toEqual(names(text).filter((n) => !counts || n !== 'n'));
      }
    }
  });
});
