import { useState } from 'react';
import { useRead } from '../../app/data';
import { useCan } from '../../app/session';
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
  if (!open) return <p><button type="button" className="plain small" onClick={() => { set(true); }}>Show the proof</button></p>;
  return (
    <section className="stack" aria-label="Proof">
      <h3>Proof</h3>
      <Loaded read={read} skeleton={3}>
        {({ auditProof: p }) => {
          if (!p) return <Empty title="There is no proof" />;
          if (found === null) void rootOf(p.leaf, p.index, p.size, p.path).then((root) => { setFound(root === p.rootHash); });
          return (
            <>
              <div className="line" role="status">{found === null ? 'Computing…' : <Badge value={found ? 'allowed' : 'failed'}>{found ? 'Proved: the hashes lead to the root' : 'The hashes do not lead to the root'}</Badge>}</div>
              <dl className="card answers">
                <div className="contents"><dt>Leaf</dt><dd><code>{p.leafHash}</code></dd></div>
                <div className="contents"><dt>Path</dt><dd>{p.path.map((h) => <code key={h} className="block">{h}</code>)}</dd></div>
                <div className="contents"><dt>Root</dt><dd><code>{p.rootHash}</code> of {p.size} leaves</dd></div>
              </dl>
              <Copyable label="Checkpoint, a signed note" value={p.checkpoint} />
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
    <Dialog title="The audit log, computed anew" close={close}>
      <Loaded read={read} skeleton={3}>
        {({ verifyAudit: v }) => (v ? (
          <div className="stack" role="status">
            <Badge value={v.intact ? 'allowed' : 'failed'}>{v.intact ? 'Intact: nothing differs from what was sealed' : `Broken at ${v.brokenAt ?? '?'}: ${v.reason ?? ''}`}</Badge>
            <dl className="card answers">
              {([['Leaves', v.size], ['Sealed entries', v.sealed], ['Waiting to be sealed', v.unsealed], ['With something erased', v.erased]] as const).map(([k, n]) => <div key={k} className="contents"><dt>{k}</dt><dd>{n}</dd></div>)}
              <div className="contents"><dt>Root</dt><dd><code>{v.rootHash}</code></dd></div>
            </dl>
          </div>
        ) : <Empty title="Nothing was sealed yet" />)}
      </Loaded>
    </Dialog>
  );
}
