import { type ReactNode, useId, useState } from 'react'
import { Button } from '../button.tsx'
import { readJson } from '../json.ts'
import { Field, SelectField, TextField } from './field.tsx'
import {
  DEPTH_MAX,
  isJsonObject,
  isObject,
  type Json,
  type JsonObject,
  membersOf,
  rulesOf,
  type Schema,
  shapeOf,
  startOf,
  typeName,
  withMember
} from './schema.ts'

interface SchemaFieldProps {
  /** Path of the member. Empty for the root. */
  readonly name: string
  readonly schema: unknown
  readonly root: Schema
  readonly isRequired: boolean
  readonly value: Json | undefined
  readonly onChange: (value: Json | undefined) => void
  readonly depth?: number
}

/** The form field of one member, chosen by its type. */
export function SchemaField(props: SchemaFieldProps): ReactNode {
  const { schema, root, depth = 0 } = props
  const shape = shapeOf(schema, root)
  if (depth > DEPTH_MAX) return <AnyField {...props} />
  switch (shape.kind) {
    // A constant needs no input.
    case 'const':
      return null
    case 'enum':
      return <OneOf {...props} values={shape.schema['enum'] as Json[]} own={shape.schema} />
    case 'boolean':
      return <OneOf {...props} values={[true, false]} own={shape.schema} />
    case 'number':
    case 'string':
      return <Scalar {...props} own={shape.schema} isNumber={shape.kind === 'number'} />
    case 'array':
      return <List {...props} own={shape.schema} />
    case 'object':
      return <Members {...props} own={shape.schema} />
    case 'choice':
      return <Alternatives {...props} choices={shape.choices} />
    default:
      return <AnyField {...props} />
  }
}

function labelOf({ name, isRequired }: Pick<SchemaFieldProps, 'name' | 'isRequired'>): ReactNode {
  return (
    <>
      <code>{name}</code>
      {!isRequired && <span className="optional"> optional</span>}
    </>
  )
}

function hintOf(schema: Schema): string | undefined {
  const description = typeof schema['description'] === 'string' ? [schema['description'].slice(0, 300)] : []
  const parts = [...description, ...rulesOf(schema)]
  return parts.length === 0 ? undefined : parts.join(' · ')
}

function OneOf({ own, values, value, onChange, ...rest }: SchemaFieldProps & { own: Schema; values: readonly Json[] }) {
  const index = values.findIndex((one) => one === value)
  return (
    <SelectField
      label={labelOf(rest)}
      hint={hintOf(own)}
      required={rest.isRequired}
      value={index === -1 ? '' : String(index)}
      onChange={(event) => onChange(event.target.value === '' ? undefined : values[Number(event.target.value)])}
    >
      <option value="">not given</option>
      {values.map((one, at) => (
        <option key={JSON.stringify(one)} value={at}>
          {typeof one === 'string' ? one : JSON.stringify(one)}
        </option>
      ))}
    </SelectField>
  )
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** A number that JavaScript would round stays a string. The API then accepts or rejects it. */
function numberOf(text: string): Json {
  const read = Number(text)
  const isExact = NUMBER.test(text) && (Number.isInteger(read) ? Number.isSafeInteger(read) : text.length <= 15)
  return isExact ? read : text
}

function Scalar({ own, isNumber, value, onChange, ...rest }: SchemaFieldProps & { own: Schema; isNumber: boolean }) {
  const given = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  const [text, setText] = useState(given)
  // Keeps the typed text: 1.0 must not turn into 1 while the user types.
  const shown = isNumber && numberOf(text) === value ? text : given
  return (
    <Field
      label={labelOf(rest)}
      hint={hintOf(own)}
      required={rest.isRequired}
      type={own['format'] === 'date' ? 'date' : 'text'}
      inputMode={isNumber ? 'decimal' : undefined}
      autoComplete="off"
      spellCheck={false}
      value={shown}
      onChange={({ target }) => {
        setText(target.value)
        onChange(target.value === '' ? undefined : isNumber ? numberOf(target.value) : target.value)
      }}
    />
  )
}

/** An optional object opens on request, because types may be recursive. */
function Members({ own, value, onChange, depth = 0, ...rest }: SchemaFieldProps & { own: Schema }) {
  const id = useId()
  const members = membersOf(own)
  // Deep objects stay closed until the user opens them.
  const isOpen = value !== undefined || (rest.isRequired && depth < 2)
  if (members === undefined) return <AnyField {...rest} value={value} onChange={onChange} />
  const object: JsonObject = isJsonObject(value) ? value : {}
  const fields = members.map((member) => (
    <SchemaField
      key={member.name}
      {...member}
      root={rest.root}
      depth={depth + 1}
      value={Object.hasOwn(object, member.name) ? object[member.name] : undefined}
      onChange={(changed) => onChange(withMember(object, member.name, changed))}
    />
  ))
  if (rest.name === '') return <div className="stack">{fields}</div>
  const hint = hintOf(own)
  return (
    <section className="nested" aria-labelledby={id}>
      <div className="row">
        <h2 id={id}>{labelOf(rest)}</h2>
        {!(rest.isRequired && isOpen) && (
          <Button
            look="plain"
            icon={value === undefined ? 'plus' : 'bad'}
            aria-label={value === undefined ? `Give ${rest.name}` : `Leave ${rest.name} out`}
            onClick={() => onChange(value === undefined ? (startOf(own, rest.root) ?? {}) : undefined)}
          >
            {value === undefined ? 'Give it' : 'Leave it out'}
          </Button>
        )}
      </div>
      {hint !== undefined && <p className="hint">{hint}</p>}
      {isOpen && fields}
    </section>
  )
}

function List({ own, value, onChange, depth = 0, ...rest }: SchemaFieldProps & { own: Schema }) {
  const id = useId()
  const items: readonly Json[] = Array.isArray(value) ? (value as readonly Json[]) : []
  const hint = hintOf(own)
  const put = (changed: readonly Json[]) => onChange(changed.length === 0 && !rest.isRequired ? undefined : changed)
  return (
    <section className="nested" aria-labelledby={id}>
      <div className="row">
        <h2 id={id}>{labelOf(rest)}</h2>
        <Button
          look="plain"
          icon="plus"
          aria-label={`Add to ${rest.name}`}
          onClick={() => put([...items, blankOf(own['items'], rest.root)])}
        >
          Add
        </Button>
      </div>
      {hint !== undefined && <p className="hint">{hint}</p>}
      {items.map((item, at) => (
        // Items have no id, so the index is the key.
        <div className="item" key={at}>
          <SchemaField
            name={`${rest.name} ${at + 1}`}
            schema={own['items']}
            root={rest.root}
            isRequired
            depth={depth + 1}
            value={item}
            onChange={(changed) => put(items.map((one, index) => (index === at ? (changed ?? '') : one)))}
          />
          <Button
            look="plain"
            icon="bad"
            aria-label={`Remove ${rest.name} ${at + 1}`}
            onClick={() => put(items.filter((_, index) => index !== at))}
          />
        </div>
      ))}
    </section>
  )
}

function blankOf(items: unknown, root: Schema): Json {
  const { kind } = shapeOf(items, root)
  return startOf(items, root) ?? (kind === 'object' ? {} : '')
}

function Alternatives({ choices, onChange, ...rest }: SchemaFieldProps & { choices: readonly Schema[] }) {
  const [chosen, setChosen] = useState(() => chosenFor(choices, rest.root, rest.value))
  const schema = choices[chosen]
  return (
    <div className="nested">
      <SelectField
        label={
          <>
            Form of <code>{rest.name}</code>
          </>
        }
        value={String(chosen)}
        onChange={(event) => {
          const next = Number(event.target.value)
          setChosen(next)
          onChange(rest.isRequired ? startOf(choices[next], rest.root) : undefined)
        }}
      >
        {choices.map((choice, at) => (
          <option key={at} value={at}>
            {typeof choice['title'] === 'string' ? choice['title'] : typeName(choice, rest.root)}
          </option>
        ))}
      </SelectField>
      <SchemaField {...rest} key={chosen} schema={schema} depth={(rest.depth ?? 0) + 1} onChange={onChange} />
    </div>
  )
}

/** The first alternative that matches the value's type. */
function chosenFor(choices: readonly Schema[], root: Schema, value: Json | undefined): number {
  const fits = (choice: Schema) => {
    const { kind } = shapeOf(choice, root)
    return kind === 'object' ? isObject(value) : kind === 'array' ? Array.isArray(value) : typeof value === kind
  }
  return Math.max(0, value === undefined ? 0 : choices.findIndex(fits))
}

/** Field for values without a form: JSON text. */
function AnyField({ value, onChange, isRequired, name }: SchemaFieldProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)))
  const [fault, setFault] = useState<string>()
  return (
    <TextField
      label={labelOf({ name, isRequired })}
      hint="JSON"
      required={isRequired}
      fault={fault}
      rows={4}
      value={text}
      onChange={({ target }) => {
        setText(target.value)
        try {
          onChange(target.value.trim() === '' ? undefined : (readJson(target.value) as Json))
          setFault(undefined)
        } catch {
          setFault('This is not JSON yet.')
        }
      }}
    />
  )
}
