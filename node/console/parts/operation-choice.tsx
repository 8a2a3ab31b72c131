import { useState } from 'react'
import type { OperationView } from '../../admin/apis/description-api.ts'
import { Field, SelectField } from './form/field.tsx'

/** Options shown at once: a browser draws thousands slowly. */
const SHOWN_MAX = 200

export interface OperationChoiceProps {
  readonly operations: readonly OperationView[]
  readonly value: string
  readonly onChange: (name: string) => void
}

/** Chooses one of many operations, found by words of its name or summary. */
export function OperationChoice({ operations, value, onChange }: OperationChoiceProps) {
  const [words, setWords] = useState('')
  const wanted = words.toLowerCase().split(/\s+/)
  const found = operations.filter(({ name, description = '' }) => {
    const text = `${name} ${description}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
  const shown = found.slice(0, SHOWN_MAX)
  const isListed = shown.some(({ name }) => name === value)
  return (
    <div className="two">
      <Field label="Find an operation" value={words} onChange={({ target }) => setWords(target.value)} />
      <SelectField
        label={`Operation (${found.length} of ${operations.length})`}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      >
        {!isListed && <option>{value}</option>}
        {shown.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
    </div>
  )
}
