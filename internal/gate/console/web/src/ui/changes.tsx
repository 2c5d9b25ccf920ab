// changes are what differs: each by its name, from what, to what.
import type { ReactNode } from 'react';
import { t } from '../app/text';

const show = (v: unknown) => (v === null || v === undefined || v === '' ? t('nothing') : typeof v === 'object' ? JSON.stringify(v) : String(v));

export function Changes({ list }: { list: { name: ReactNode; from: unknown; to: unknown }[] }) {
  if (list.length === 0) return null;
  return <ul className="changes">{list.map((c, i) => <li key={i}>{c.name} <del dir="auto">{show(c.from)}</del> <span aria-hidden className="arrow" /> <ins dir="auto">{show(c.to)}</ins></li>)}</ul>;
}
