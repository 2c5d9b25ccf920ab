// text says everything in the language of the page. A text is written in English where it is said; src/locales has what it is in other
// languages, one file a language, loaded before the first text is said. What a catalogue lacks is said in English.
import { Fragment, type ReactNode } from 'react';

type Said = string | Partial<Record<Intl.LDMLPluralRule, string>>;
type Values = Record<string, string | number>;

// languages are what a person can choose, each by its own name.
export const languages = { en: 'English', de: 'Deutsch' };
type Language = keyof typeof languages;

const catalogues: Record<Exclude<Language, 'en'>, () => Promise<{ default: Record<string, Said> }>> = { de: () => import('../locales/de.json') };

const known = (tag: string): Language | undefined => (Object.keys(languages) as Language[]).find((l) => l === tag.toLowerCase().split('-')[0]);

// language is that of this page until it is loaded anew: the one that the person or the company has chosen, else the browser's.
const kept = globalThis.localStorage?.getItem('language') ?? '';
const wanted = globalThis.navigator?.languages ?? [];
const usual = wanted.map(known).find((l) => l) ?? 'en'; // without a choice
export const language: Language = known(kept) ?? usual;
if (globalThis.document) globalThis.document.documentElement.lang = language;

// locale is how numbers and times are written: the browser's own way of that language.
export const locale = wanted.find((tag) => known(tag) === language) ?? language;

// zone is the person's time zone; the browser's when they have chosen none.
export const zone = globalThis.localStorage?.getItem('zone') || undefined;

const said: Record<string, Said> = language === 'en' ? {} : await catalogues[language]().then((m) => m.default, () => ({}));
const forms = new Intl.PluralRules(language);
const ours = new Intl.PluralRules('en');

const filled = (text: string, values: Values) => text.replace(/\{(\w+)\}/g, (whole, name: string) => {
  const v = values[name];
  return v === undefined ? whole : typeof v === 'number' ? v.toLocaleString(locale) : v;
});

// plainly takes off what tells two equal English texts apart: t('verb|Open') is said as Open.
const plainly = (text: string) => text.slice(text.indexOf('|') + 1);

// t says a text, with {name} filled from the values. What the values lack stays, for placed.
export function t(text: string, values: Values = {}): string {
  const other = said[text];
  return filled(typeof other === 'string' ? other : plainly(text), values);
}

// plural says a text about n of something, which is {n} in it: plural(2, '{n} person', '{n} people'). Catalogues have it under the
// second text, with a form for each plural of their language.
export function plural(n: number, one: string, many: string, values: Values = {}): string {
  const other = said[many];
  const text = typeof other === 'object' ? other[forms.select(n)] ?? other.other : undefined;
  return filled(text ?? plainly(ours.select(n) === 'one' ? one : many), { n, ...values });
}

// placed is a text with elements for its {names}: placed(t('Decided by {who}.'), { who: <Decider /> }).
export function placed(text: string, nodes: Record<string, ReactNode>): ReactNode {
  return text.split(/\{(\w+)\}/).map((part, i) => <Fragment key={i}>{i % 2 === 0 ? part : nodes[part] ?? `{${part}}`}</Fragment>);
}

// speak loads the page anew where somebody speaks another language than it, or lives in another zone; null for no choice of theirs.
export function speak(locale: string | null, timeZone: string | null): void {
  const now = { language: known(locale ?? '') ?? '', zone: timeZone ?? '' };
  if (now.language === kept && now.zone === (zone ?? '')) return;
  for (const [key, value] of Object.entries(now)) localStorage.setItem(key, value);
  if (now.zone !== (zone ?? '') || (now.language || usual) !== language) location.reload();
}
