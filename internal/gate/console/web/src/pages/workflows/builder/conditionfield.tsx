// conditionfield is a condition: an expression that gives yes or no.
import { CodeField } from './codefield';

interface Props { value: string; onChange: (to: string) => void; label: string; problem?: string | undefined }

export const ConditionField = ({ value, onChange, label, problem }: Props) => <CodeField label={label} value={value} change={onChange} problem={problem} />;
