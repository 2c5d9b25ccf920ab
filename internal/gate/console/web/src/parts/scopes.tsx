// scopes are what a key or an application may be used for, each by its API name.
import { Check } from '../ui/field';

const scopes: [string, string][] = [
  ['services:read', 'Read services and offerings'], ['services:write', 'Change services and offerings'], ['requests:read', 'Read requests and tasks'],
  ['requests:write', 'File and work requests'], ['workflows:read', 'Read workflows and executions'], ['workflows:write', 'Change workflows'],
  ['users:read', 'Read people'], ['users:write', 'Change people'], ['teams:read', 'Read teams'], ['teams:write', 'Change teams'],
  ['organizations:read', 'Read organizations'], ['organizations:write', 'Change organizations'], ['secrets:read', 'List secrets, never their values'],
  ['secrets:write', 'Set secrets'], ['billing:read', 'Read credits'], ['audit:read', 'Read the audit log'],
];

export function Scopes({ chosen, set, fault, legend = 'Scopes', more = [] }: { chosen: string[]; set: (s: string[]) => void; fault?: string | undefined; legend?: string; more?: [string, string][] }) {
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
