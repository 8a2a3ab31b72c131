import { useState } from 'react'
import { Choice } from './choice.tsx'
import { Code } from '../code/code.tsx'
import { isObject, type Json, membersOf, type Schema, shapeOf } from './schema.ts'
import { readJson } from '../json.ts'
import { SchemaField } from './schema-field.tsx'

interface SchemaFormProps {
  /** Accessible name, such as "Request". */
  readonly label: string
  /** If absent, the value is entered as JSON. */
  readonly schema: Schema | undefined
  readonly value: Json | undefined
  /** Receives undefined while the text is not valid JSON. */
  readonly onChange: (value: Json | undefined) => void
}

const MODES = [
  { value: 'form', name: 'Form' },
  { value: 'json', name: 'JSON' }
] as const

/** Edits a value by form fields or as JSON. Both views share the value. */
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

/** Edits any JSON as text. */
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
    return readJson(text) as Json
  } catch {
    return undefined
  }
}
