// callworkflow is the form of a CALL_WORKFLOW: which workflow is started, what it is given, and whether this one waits for it.
import { useRead } from '../../../app/data';
import { t } from '../../../app/text';
import { WorkflowName } from '../../../gen/documents';
import { Choices, useWorkflowChoices } from '../../../parts/choices';
import { keyOf } from '../../../parts/formkeys';
import { Check, Field } from '../../../ui/field';
import { Member, Raw } from './body';
import type { FormProps } from './common';
import { usePhase } from './context';
import { formOf } from './payload';
import { Entries } from './rows';
import { at, below, object, text, type Json } from './shape';
import { variable } from './value';

export function CallWorkflowForm({ config, set }: FormProps) {
  const { problems, workflow } = usePhase();
  const id = text(config['workflowId']);
  const choices = useWorkflowChoices().filter((w) => w.id !== workflow); // none calls itself
  const other = useRead(WorkflowName, { id }, id === '' || choices.some((w) => w.id === id)); // a draft or an archived one
  const name = other.data?.workflow?.name ?? (other.data ?? other.fault ? t('Unknown workflow') : '…');
  const waits = config['wait'] !== false;
  return (
    <>
      <Field label={t('Workflow')} hint={t('It runs in the version that is published then.')} fault={at(problems, 'config.workflowId', 'config')}>
        <select value={id} aria-required onChange={(e) => { set('workflowId', e.target.value); }}>
          <option value="" disabled>{t('Choose…')}</option>
          <Choices of={choices} now={{ id, name }} />
        </select>
      </Field>
      <Input value={config['input']} change={(to) => { set('input', to); }} />
      <Check
        label={t('Wait until it is done')} checked={waits} set={(v) => { set('wait', v); }}
        hint={waits ? t('This workflow continues when the called one has ended; cancelling this one cancels it, too.') : t('This workflow continues at once; the called one runs by itself.')}
      />
      {at(problems, 'config.wait') && <p className="fault" role="alert">{at(problems, 'config.wait')}</p>}
    </>
  );
}

// Input is what the called workflow is given: names and values. Lists and objects among them can be written as JSON alone.
function Input({ value, change }: { value: unknown; change: (to: unknown) => void }) {
  const { problems } = usePhase();
  if (formOf(value) === 'json') return <Raw value={value} change={change} problem={below(problems, 'config.input')} />;
  return (
    <Entries
      label={t('What it is given')} hint={t('The called workflow reads each by its name, such as input.amount.')} of={object(value)} change={(to: Json) => { change(Object.keys(to).length > 0 ? to : undefined); }}
      name={t('Name')} placeholder={'amount'} pattern={variable} says={t('Use letters, digits and _ only, not starting with a digit.')} tidy={keyOf} add={t('Add value')} fresh=""
      problem={at(problems, 'config.input')} problemOf={(name) => below(problems, `config.input.${name}`)}
      value={(e, put, problem) => <Member value={e.value} set={put} problem={problem} place={'plain'} />}
    />
  );
}
