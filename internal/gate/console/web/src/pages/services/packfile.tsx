// packfile takes a pack from a file: it is planned as one that is shipped, and what is wrong with it is said by its documents.
import { useState } from 'react';
import { uncached } from '../../app/client';
import { faultOf, type Fault } from '../../app/fault';
import { language, t } from '../../app/text';
import { PlanPack } from '../../gen/documents';
import { FileDrop } from '../../parts/filedrop';
import { Rest } from '../../ui/field';
import { Section } from '../../ui/page';
import { textOf } from './packtext';
import { documentFaults, type Plan } from './packwords';

// Opened is a file that can be installed, and what it would make.
export interface Opened { name: string; source: string; plan: Plan }

export function FromFile({ take }: { take: (file: Opened) => void }) {
  const [busy, setBusy] = useState(false);
  const [refused, refuse] = useState<{ name: string; fault: Fault } | null>(null);
  const choose = async (file: File) => {
    refuse(null);
    const read = await textOf(file);
    if ('says' in read) return read.says;
    setBusy(true);
    const r = await uncached.query(PlanPack, { source: read.source, language }).toPromise();
    setBusy(false);
    const [fault, plan] = [faultOf(r.error), r.data?.planPack];
    if (fault) refuse({ name: file.name, fault });
    else if (plan) take({ name: file.name, source: read.source, plan });
    return '';
  };
  return (
    <Section title={t('From a file')} intro={t('A pack as a YAML file, such as a service that was saved as a template.')}>
      <div className="stack">
        <FileDrop label={t('YAML file')} verb={t('Choose a YAML file')} plain accept=".yaml,.yml,application/yaml,text/yaml" busy={busy} take={choose}>
          <p>{t('Drop a YAML file here, or choose one. You see what it makes before anything is installed.')}</p>
        </FileDrop>
        {refused && <PackFaults fault={refused.fault} says={t('“{name}” cannot be installed.', { name: refused.name })} />}
      </div>
    </Section>
  );
}

// PackFaults says what is wrong with a pack, document by document.
export function PackFaults({ fault, says }: { fault: Fault | null; says: string }) {
  const { all, rest } = documentFaults(fault);
  return (
    <>
      {all.length > 0 && (
        <div className="alert" role="alert">
          <p>{says}</p>
          <ul>{all.map((d) => <li key={d.document}><code>{d.document}</code>{d.says.map((s) => <p key={s}>{s}</p>)}</li>)}</ul>
        </div>
      )}
      <Rest fault={rest} fields={[]} />
    </>
  );
}
