// mapping is the second step: what each column is, and what the table does not say by itself.
import { useId } from 'react';
import { plural, t } from '../../app/text';
import * as enums from '../../gen/enums';
import type { UnknownPeople } from '../../gen/types';
import { OfferingOptions, useOfferingChoices } from '../../parts/choices';
import { words as inWords } from '../../ui/bits';
import { Field } from '../../ui/field';
import { answerPrefix, fields, placeOf, samples, say, unknown, type Columns, type FormField, type Said } from './columns';
import type { Table } from './csv';

// Settings are what a person has said of a file.
export interface Settings {
  said: Said;
  offeringId: string; source: string; people: UnknownPeople; meant: Record<'status' | 'priority', Record<string, string>>;
}

export interface Problems { title?: string | undefined; offering?: string | undefined; source?: string | undefined }

interface Props { table: Table; columns: Columns; form: FormField[]; settings: Settings; set: (s: Settings) => void; problems: Problems; busy: boolean }

export function Mapping({ table, columns, form, settings, set, problems, busy }: Props) {
  return (
    <div className="stack">
      <Headings {...{ table, columns, form, settings, set, problems, busy }} />
      <Words of="status" {...{ table, columns, settings, set, busy }} />
      <Words of="priority" {...{ table, columns, settings, set, busy }} />
      <Rest {...{ table, columns, settings, set, problems, busy }} />
    </div>
  );
}

function Headings({ table, columns, form, settings, set, problems, busy }: Props) {
  const id = useId();
  const taken = new Map(Object.entries(columns).filter(([, f]) => f).map(([h, f]) => [f, h]));
  const answers = [...new Set([...form.map((f) => answerPrefix + f.key), ...Object.values(columns).filter((f) => f.startsWith(answerPrefix))])];
  const labelOf = (field: string) => fields[field] ?? t('Answer: {label}', { label: form.find((f) => answerPrefix + f.key === field)?.label || field.slice(answerPrefix.length) });
  return (
    <div className="table-wrap cards-when-narrow">
      <table className="import-columns">
        <thead><tr><th>{t('Column')}</th><th>{t('Sample values')}</th><th>{t('Imported as')}</th></tr></thead>
        <tbody>
          {table.headings.map((h, at) => {
            const first = table.headings.indexOf(h);
            const name = h.trim() || t('Column {n}', { n: at + 1 });
            const option = (f: string) => <option key={f} value={f}>{taken.has(f) && taken.get(f) !== h ? t('{field} (now “{heading}”)', { field: labelOf(f), heading: taken.get(f) ?? '' }) : labelOf(f)}</option>;
            return (
              <tr key={at}>
                <td><strong id={`${id}${at}`} dir="auto">{name}</strong></td>
                <td className="soft small-text" dir="auto">{samples(table, at).join(' · ') || t('Empty')}</td>
                <td>
                  {first !== at ? <span className="soft small-text">{t('Left out: another column has this name.')}</span> : (
                    <select aria-labelledby={`${id}${at}`} aria-invalid={problems.title && at === 0 ? true : undefined} aria-describedby={problems.title && at === 0 ? `${id}f` : undefined} value={columns[h] ?? ''} disabled={busy} onChange={(e) => { set({ ...settings, said: say(settings.said, h, e.target.value) }); }}>
                      <option value="">{t('Leave out')}</option>
                      {Object.keys(fields).map(option)}
                      {answers.map(option)}
                    </select>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {problems.title && <p className="fault import-fault" id={`${id}f`}>{problems.title}</p>}
    </div>
  );
}

type Some = Pick<Props, 'table' | 'columns' | 'settings' | 'set' | 'busy'>;
const most = 24; // words that are asked for at once; more are no statuses

// Words asks what statuses or priorities mean that are not called as anything is here.
function Words({ of, table, columns, settings, set, busy }: Some & { of: 'status' | 'priority' }) {
  const found = unknown(table, columns, of);
  if (found.length === 0) return null;
  const values = of === 'status' ? enums.RequestStatus : enums.RequestPriority;
  const mean = (word: string, value: string) => {
    const { [word]: _was, ...others } = settings.meant[of];
    set({ ...settings, meant: { ...settings.meant, [of]: value ? { ...others, [word]: value } : others } });
  };
  return (
    <fieldset>
      <legend>{of === 'status' ? t('What these statuses mean') : t('What these priorities mean')}</legend>
      <div className="import-words">
        {found.slice(0, most).map(([word, n]) => (
          <Field key={word} label={t('“{word}”', { word })} hint={plural(n, '{n} row', '{n} rows')}>
            <select value={settings.meant[of][word] ?? ''} disabled={busy} onChange={(e) => { mean(word, e.target.value); }}>
              <option value="">{t('Choose what it means')}</option>
              {values.map((v) => <option key={v} value={v}>{inWords(v)}</option>)}
            </select>
          </Field>
        ))}
      </div>
      {found.length > most && <p className="hint">{plural(found.length - most, '{n} more value is not mapped. Is this the right column?', '{n} more values are not mapped. Is this the right column?')}</p>}
    </fieldset>
  );
}

// Rest is what the table leaves open.
function Rest({ table, columns, settings, set, problems, busy }: Some & { problems: Problems }) {
  const services = useOfferingChoices();
  const named = placeOf(table, columns, 'offering') >= 0; // not said
  const people = placeOf(table, columns, 'requester') >= 0 || placeOf(table, columns, 'assignee') >= 0; // not said
  const keyed = placeOf(table, columns, 'key') >= 0; // not said
  return (
    <div className="pair">
      <Field label={t('Service and offering')} hint={named ? t('For rows without one.') : t('For all rows: the table has no column for it.')} fault={problems.offering}>
        <select value={settings.offeringId} disabled={busy} onChange={(e) => { set({ ...settings, offeringId: e.target.value }); }}>
          <option value="">{named ? t('None') : t('Choose an offering')}</option>
          <OfferingOptions of={services} />
        </select>
      </Field>
      {people && (
        <Field label={t('People who are not in your company')}>
          <select value={settings.people} disabled={busy} onChange={(e) => { set({ ...settings, people: e.target.value as UnknownPeople }); }}>
            <option value="fault">{t('Do not import their rows')}</option>
            <option value="tag">{t('Import as my requests, and keep the name as a tag')}</option>
          </select>
        </Field>
      )}
      <Field label={t('Name of the other system')} hint={keyed ? t('A request with the same ID of the same system is imported once, however often you try.') : t('It is kept as a tag. Without a column for the ID, importing the file again creates every request again.')} fault={problems.source}>
        <input maxLength={40} value={settings.source} disabled={busy} onChange={(e) => { set({ ...settings, source: e.target.value }); }} />
      </Field>
    </div>
  );
}
