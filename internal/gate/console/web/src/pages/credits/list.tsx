import { useState } from 'react';
import { uncached } from '../../app/client';
import { rows, usePages } from '../../app/data';
import { t } from '../../app/text';
import { Credits } from '../../gen/documents';
import type { CreditsQuery } from '../../gen/types';
import { Subpages } from '../../parts/subpages';
import { Badge, Time, money } from '../../ui/bits';
import { csv, download } from '../../ui/csv';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';

type Entry = NonNullable<CreditsQuery['creditHistory']>['edges'][number]['node'];
const exported = 20_000; // entries of one file
const columns = [t('Date'), t('Type'), t('Amount'), t('Description'), t('Invoice'), t('Balance')];
const typeWord: Record<Entry['type'], string> = { issued: t('Issued'), applied: t('credit|Applied'), forfeited: t('Forfeited') };

// CreditList is what the company was given and what of it was used.
export default function CreditList() {
  const read = usePages(Credits, { first: 50 });
  const [busy, setBusy] = useState(false);
  const history = read.data?.creditHistory;
  const list = rows(history);
  const currency = read.data?.creditBalance?.currency ?? 'usd';
  const exportAll = async () => {
    setBusy(true);
    const all: Entry[] = [];
    let more = true;
    for (let cursor: string | null = null; more && all.length < exported;) {
      const r: { data?: CreditsQuery | undefined } = await uncached.query(Credits, { first: 100, ...(cursor ? { after: cursor } : {}) }).toPromise();
      const page: CreditsQuery['creditHistory'] | undefined = r.data?.creditHistory;
      if (!page) {
        setBusy(false);
        toast({ text: t('The entries could not be read. Nothing was exported.'), bad: true });
        return;
      }
      all.push(...rows(page));
      more = page.pageInfo.hasNextPage;
      cursor = page.pageInfo.endCursor ?? null;
    }
    setBusy(false);
    if (more) toast({ text: t('The file holds the newest {n} entries. There are more.', { n: all.length }) });
    download('credits.csv', csv([columns, ...all.map((e) => [e.date, e.type, { cents: e.amount }, e.description, e.invoiceId ?? '', { cents: e.balance }])]));
  };
  return (
    <Page title={t('Credits')} verb="billing.read" tabs={<Subpages of="credits" />} intro={t('Credits are applied to invoices automatically, the oldest first.')} actions={list.length > 0 && <button type="button" className="plain" disabled={busy} onClick={() => { void exportAll(); }}>{t('Export CSV')}</button>}>
      <Loaded read={read}>
        {({ creditBalance }) => (
          <>
            <p className="card balance"><span className="soft">{t('Balance')}</span> <strong>{money(creditBalance?.balance ?? 0, currency)}</strong></p>
            {list.length === 0 ? <Empty title={t('No credits yet')}><p>{t('Credits appear here when they are issued or applied to an invoice.')}</p></Empty> : (
              <>
                <div className="table-wrap cards-when-narrow">
                  <table>
                    <thead><tr>{columns.map((c, i) => <th key={c} scope="col" className={i === 2 || i === 5 ? 'num' : ''}>{c}</th>)}</tr></thead>
                    <tbody>
                      {list.map((e, i) => (
                        <tr key={`${e.date} ${i}`}>
                          <td className="tight"><Time at={e.date} full /></td><td className="tight"><Badge value={e.type === 'issued' ? 'active' : 'off'}>{typeWord[e.type]}</Badge></td>
                          <td className="num" data-label={t('Amount')}>{money(e.amount, currency)}</td><td>{e.description}</td><td className="tight">{e.invoiceId ? <code>{e.invoiceId}</code> : ''}</td><td className="num" data-label={t('Balance')}>{money(e.balance, currency)}</td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
                <More shown={list.length} total={history?.totalCount} page={history?.pageInfo} next={read.next} />
              </>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}
