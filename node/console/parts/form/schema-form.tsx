import { useState } from 'react'
import { Choice } from './choice.tsx'
import { Code } from '../code/code.tsx'
import { isObject, type Json, membersOf, type Schema, shapeOf } from './schema.ts'
import { SchemaField } from './schema-field.tsx'

interface SchemaFormProps {
  /** What it is of, for whoever listens: "Request". */
  readonly label: string
  /** Absent where nothing is known: then it is written as JSON. */
  readonly schema: Schema | undefined
  readonly value: Json | undefined
  /** Told undefined as long as what is written is no JSON. */
  readonly onChange: (value: Json | undefined) => void
}

const MODES = [
  { value: 'form', name: 'Form' },
  { value: 'json', name: 'JSON' }
] as const

/** A value by its schema: field by field, or as JSON. What somebody gave in one is there in the other. */
export function SchemaForm({ label, schema, value, onChange }: SchemaFormProps) {
  const shape = schema === undefined ? undefined : shapeOf(schema, schema)
  const hasForm = shape?.kind === 'object' && (membersOf(shape.schema)?.length ?? 0) > 0
  const [mode, setMode] = useState<'form' | 'json'>('form')
  const isForm = hasForm && mode === 'form' && isObject(value)
  return (
    <div className="stack">
      {hasForm && (
        <Choice label={`${label} as`} isBare options={MODES} value={isForm ? 'form' : 'json'} onChange={setMode} />
      )}
      {isForm && schema !== undefined ? (
        <SchemaField name="" schema={schema} root={schema} isRequired value={value} onChange={onChange} />
      ) : (
        <JsonField label={label} value={value} onChange={onChange} />
      )}
    </div>
  )
}

type JsonFieldProps = Pick<SchemaFormProps, 'label' | 'value' | 'onChange'> & { readonly isTitled?: boolean }

/** Any JSON, as text. */
export function JsonField({ label, value, onChange, isTitled = false }: JsonFieldProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)))
  const read = parsed(text)
  return (
    <Code
      label={`${label}, JSON`}
      title={isTitled ? label : undefined}
      value={text}
      onChange={(typed) => {
        setText(typed)
        onChange(parsed(typed))
      }}
      fault={read === undefined ? 'This is not JSON yet.' : undefined}
    />
  )
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
