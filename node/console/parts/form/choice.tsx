import { useId } from 'react'

interface ChoiceProps<T extends string> {
  readonly label: string
  readonly options: ReadonlyArray<{ readonly value: T; readonly name: string; readonly hint?: string }>
  readonly value: T
  readonly onChange: (value: T) => void
  /** Shows the label to screen readers only, because the context is visible. */
  readonly isBare?: boolean
}

/** Radio buttons for a few options. */
export function Choice<T extends string>({ label, options, value, onChange, isBare = false }: ChoiceProps<T>) {
  const name = useId()
  return (
    <fieldset className={isBare ? 'choice segments' : 'choice'}>
      <legend className={isBare ? 'visually-hidden' : undefined}>{label}</legend>
      <div>
        {options.map((option) => (
          <label key={option.value}>
            <input type="radio" name={name} checked={option.value === value} onChange={() => onChange(option.value)} />
            <span>
              {option.name}
              {option.hint !== undefined && <small>{option.hint}</small>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
