// copysheet.mjs prints what people read in the console, on pages and in mails, as Markdown: the English beside its German, by the file
// that says it first. The catalogues are complete (tests hold them so); texts that no file says as they stand come last.
import { readFileSync, readdirSync } from 'node:fs';

const sheets = [
  { title: 'Console', folder: 'internal/gate/console/web/src', names: /^(?!gen|tests|locales).*\.tsx?$/, catalogue: 'internal/gate/console/web/src/locales/de.json' },
  { title: 'Pages and mails', folder: 'internal', names: /^(?!gate\/console).*(?<!_test)\.(go|html|txt)$/, catalogue: 'internal/platform/locale/de.json' },
];

// placeOf is where a source says a text, in quotes of any kind; -1 for nowhere.
const placeOf = (source, text) => Math.max(...["'", '"', '`'].map((q) => source.indexOf(q + text.replaceAll('\\', '\\\\').replaceAll(q, `\\${q}`).replaceAll('\n', q === '`' ? '\n' : '\\n') + q)));

const cell = (text) => (typeof text === 'string' ? text : Object.entries(text).map(([form, t]) => `${form}: ${t}`).join(' / ')).replaceAll('|', '\\|').replaceAll('\n', '<br>');

for (const { title, folder, names, catalogue } of sheets) {
  const german = new Map(Object.entries(JSON.parse(readFileSync(catalogue, 'utf8'))));
  console.log(`# ${title}\n\n${german.size} texts.`);
  const files = readdirSync(folder, { recursive: true }).filter((name) => names.test(name)).sort();
  const print = (name, texts) => {
    if (texts.length === 0) return;
    console.log(`\n## ${name}\n\n| English | German |\n|---|---|`);
    for (const text of texts) console.log(`| ${cell(text)} | ${cell(german.get(text))} |`);
    texts.forEach((text) => german.delete(text));
  };
  for (const name of files) {
    const source = readFileSync(`${folder}/${name}`, 'utf8');
    const said = [...german.keys()].map((text) => [placeOf(source, text), text]).filter(([at]) => at >= 0);
    print(name, said.sort(([a], [b]) => a - b).map(([, text]) => text));
  }
  print('Others', [...german.keys()]);
}
