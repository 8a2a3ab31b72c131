import { SelectField } from '../../parts/form/field.tsx'

const DAY_MS = 24 * 60 * 60 * 1000

/** Lifetime of a key in days. Empty: the default. */
export function Lifetime({
  unset,
  value,
  onChange
}: {
  /** Label of the default. */
  readonly unset: string
  readonly value: string
  readonly onChange: (days: string) => void
}) {
  return (
    <SelectField label="Expires" value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">{unset}</option>
      <option value="1">in a day</option>
      <option value="30">in 30 days</option>
      <option value="90">in 90 days</option>
      <option value="365">in a year</option>
    </SelectField>
  )
}

/** Expiry in milliseconds since the epoch. */
export function expiryOf(days: string): number | undefined {
  return days === '' ? undefined : Date.now() + Number(days) * DAY_MS
}

export function expiryOption(days: string): string {
  return days === '' ? '' : ` --expires-in ${days}d`
}
