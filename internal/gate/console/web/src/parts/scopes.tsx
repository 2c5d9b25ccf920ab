// scopes are what a key or an application may be used for, each by its API name.
import { t } from '../app/text';
import { Check } from '../ui/field';

const scopes: [string, string][] = [
  ['services:read', t('Read services and offerings')], ['services:write', t('Change services and offerings')], ['requests:read', t('Read requests and tasks')],
  ['requests:write', t('Submit and work on requests')], ['workflows:read', t('Read workflows and executions')], ['workflows:write', t('Change workflows')],
  ['users:read', t('Read people')], ['users:write', t('Change people')], ['teams:read', t('Read teams')], ['teams:write', t('Change teams')],
  ['organizations:read', t('Read organizations')], ['organizations:write', t('Change organizations')], ['secrets:read', t('List secrets, never their values')],
  ['secrets:write', t('Set secrets')], ['billing:read', t('Read credits')], ['audit:read', t('Read the audit log')],
];

export function Scopes({ chosen, set, fault, legend = t('Scopes'), more = [] }: { chosen: string[]; set: (s: string[]) => void; fault?: string | undefined; legend?: string; more?: [string, string][] }) {
  return (
    <fieldset aria-describedby={fault ? 'scopes-fault' : undefined}>
      <legend>{legend}</legend>
      <div className="checks">
        {[...more, ...scopes].map(([s, says]) => <Check key={s} label={s} hint={says} checked={chosen.includes(s)} set={(on) => { set(on ? [...chosen, s] : chosen.filter((x) => x !== s)); }} />)}
      </div>
      {fault && <p className="fault" id="scopes-fault">{fault}</p>}
    </fieldset>
  );
}
