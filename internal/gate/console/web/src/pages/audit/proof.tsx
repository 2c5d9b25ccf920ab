import { useState } from 'react';
import { useRead } from '../../app/data';
import { useCan } from '../../app/session';
import { placed, plural, t } from '../../app/text';
import { AuditProofOf, VerifyAudit } from '../../gen/documents';
import { Badge } from '../../ui/bits';
import { Copyable, Dialog } from '../../ui/dialog';
import { Loaded } from '../../ui/page';
import { Empty } from '../../ui/states';
import { rootOf } from './merkle';

// Proof shows that an entry stands in the company's log, and computes the root from it anew, here in the browser.
export function Proof({ id }: { id: string }) {
  const may = useCan('audit.read');
  const [open, set] = useState(false);
  const [found, setFound] = useState<boolean | null>(null);
  const read = useRead(AuditProofOf, { id }, !open);
  if (!may) return null;
  if (!open) return <p><button type="button" className="plain small" onClick={() => { set(true); }}>{t('Show the proof')}</button></p>;
  return (
    <section className="stack" aria-label={t('Proof')}>
      <h3>{t('Proof')}</h3>
      <Loaded read={read} skeleton={3}>
        {({ auditProof: p }) => {
          if (!p) return <Empty title={t('There is no proof')} />;
          if (found === null) void rootOf(p.leaf, p.index, p.size, p.path).then((root) => { setFound(root === p.rootHash); });
          return (
            <>
              <div className="line" role="status">{found === null ? t('Computing…') : <Badge value={found ? 'allowed' : 'failed'}>{found ? t('Proved: the hashes lead to the root') : t('The hashes do not lead to the root')}</Badge>}</div>
              <dl className="card answers">
                <div className="contents"><dt>{t('Leaf')}</dt><dd><code>{p.leafHash}</code></dd></div>
                <div className="contents"><dt>{t('Path')}</dt><dd>{p.path.map((h) => <code key={h} className="block">{h}</code>)}</dd></div>
                <div className="contents"><dt>{t('Root')}</dt><dd>{placed(plural(p.size, '{hash} of {n} leaf', '{hash} of {n} leaves'), { hash: <code>{p.rootHash}</code> })}</dd></div>
              </dl>
              <Copyable label={t('Checkpoint, a signed note')} value={p.checkpoint} />
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

// Verify has the server compute the whole log anew.
export function Verify({ close }: { close: () => void }) {
  const read = useRead(VerifyAudit, {});
  return (
    <Dialog title={t('Verification of the audit log')} close={close}>
      <Loaded read={read} skeleton={3}>
        {({ verifyAudit: v }) => (v ? (
          <div className="stack" role="status">
            <Badge value={v.intact ? 'allowed' : 'failed'}>{v.intact ? t('Intact: nothing has changed since it was sealed') : t('Broken at {index}: {reason}', { index: v.brokenAt ?? '?', reason: v.reason ?? '' })}</Badge>
            <dl className="card answers">
              {([[t('Leaves'), v.size], [t('Sealed entries'), v.sealed], [t('Not sealed yet'), v.unsealed], [t('With erased data'), v.erased]] as const).map(([k, n]) => <div key={k} className="contents"><dt>{k}</dt><dd>{n}</dd></div>)}
              <div className="contents"><dt>{t('Root')}</dt><dd><code>{v.rootHash}</code></dd></div>
            </dl>
          </div>
        ) : <Empty title={t('Nothing has been sealed yet')} />)}
      </Loaded>
    </Dialog>
  );
}
