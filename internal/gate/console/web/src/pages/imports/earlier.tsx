import { Link } from '@tanstack/react-router';
import { plural, t } from '../../app/text';
import type { ImportRowFragment } from '../../gen/types';
import { Badge, Time } from '../../ui/bits';
import { More } from '../../ui/more';
import { Loaded, Section } from '../../ui/page';
import type { useImports } from './work';

// Earlier are the imports of the company. Those that were only checked and then given up say nothing.
export function Earlier({ of, ids }: { of: ReturnType<typeof useImports>; ids: string[] }) {
  const list = of.all.filter((i) => !(i.status === 'STOPPED' && i.done === 0) && !ids.includes(i.id));
  return (
    <Section title={t('Earlier imports')} intro={t('They are kept for 30 days. What they imported stays.')}>
      <Loaded read={of.read} skeleton={2}>
        {(data) => (list.length === 0 ? <p className="soft">{t('There are none.')}</p> : (
          <>
            <ul className="rows">
              {list.map((i) => (
                <li key={i.id} className="row">
                  <div>
                    <Link className="name" to="/app/requests/import" search={{ id: i.id } as never}>{nameOf(i)}</Link>
                    <div className="meta"><span>{i.source}</span><Time at={i.createdAt} />{i.faulty > 0 && <span>{plural(i.faulty, '{n} row with faults', '{n} rows with faults')}</span>}</div>
                  </div>
                  <div className="verbs"><Badge value={i.status}>{i.status === 'CHECKED' ? t('Not started') : undefined}</Badge></div>
                </li>
              ))}
            </ul>
            <More shown={list.length} total={list.length} page={data.requestImports?.pageInfo} next={of.read.next} />
          </>
        ))}
      </Loaded>
    </Section>
  );
}

const nameOf = (i: ImportRowFragment) => (i.status === 'CHECKED' ? plural(i.rows, '{n} row', '{n} rows')
  : i.status === 'RUNNING' ? t('{done} of {rows} rows', { done: i.done, rows: i.rows }) : plural(i.imported, '{n} request', '{n} requests'));
