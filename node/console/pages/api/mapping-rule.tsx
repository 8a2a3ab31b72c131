import { useState } from 'react'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, SelectField } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { FormButtons } from '../../parts/form/form-buttons.tsx'
import type { Json } from '../../parts/form/schema.ts'
import type { Row, Rule } from './mapping-document.ts'

/** Source of a field's value. */
const GIVEN = {
  free: 'The consumer, as the WSDL has it',
  required: 'The consumer, always',
  default: 'The consumer, or else a default',
  value: 'You, always the same; consumers do not see it',
  hide: 'Hidden; consumers do not see it'
} as const
type Given = keyof typeof GIVEN

const BOUNDS = [
  ['min', 'Least', 'value'],
  ['max', 'Greatest', 'value'],
  ['minLength', 'Fewest characters', 'value'],
  ['maxLength', 'Most characters', 'value'],
  ['minItems', 'Fewest items', 'list'],
  ['maxItems', 'Most items', 'list']
] as const

interface RuleDialogProps {
  readonly row: Row
  readonly rule: Rule
  readonly onClose: () => void
  readonly onDone: (rule: Rule) => void
}

/** Editor of the rule for one request field. */
export function RuleDialog({ row, rule, onClose, onDone }: RuleDialogProps) {
  const [given, setGiven] = useState<Given>(givenIn(rule))
  const [fixed, setFixed] = useState(textOf(rule.value ?? rule.default))
  const [bounds, setBounds] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(BOUNDS.map(([name]) => [name, textOf(rule[name])]))
  )
  const [pattern, setPattern] = useState(rule.pattern ?? '')
  const [allowed, setAllowed] = useState((rule.enum ?? []).map(textOf).join(', '))
  const isGiven = given !== 'value' && given !== 'hide'

  const done = () => {
    const { rename } = rule
    const limits = Object.fromEntries(
      BOUNDS.flatMap(([name]) =>
        bounds[name] === undefined || bounds[name] === '' ? [] : [[name, numberOf(bounds[name])]]
      )
    ) as Rule
    const values = allowed.split(',').flatMap((one) => (one.trim() === '' ? [] : [valueOf(one.trim())]))
    onDone({
      ...(rename === undefined ? {} : { rename }),
      ...(given === 'required' ? { required: true as const } : {}),
      ...(given === 'hide' ? { hide: true as const } : {}),
      ...(given === 'value' ? { value: valueOf(fixed) } : {}),
      ...(given === 'default' ? { default: valueOf(fixed) } : {}),
      ...(isGiven ? limits : {}),
      ...(isGiven && pattern !== '' ? { pattern } : {}),
      ...(isGiven && values.length > 0 ? { enum: values } : {})
    })
  }
  return (
    <Dialog title={`Rule for ${row.path}`} onClose={onClose}>
      <Form onSubmit={done}>
        <SelectField label="Who gives it" value={given} onChange={({ target }) => setGiven(target.value as Given)}>
          {Object.entries(GIVEN).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </SelectField>
        {(given === 'value' || given === 'default') && (
          <Field
            label={given === 'value' ? 'Value' : 'Default'}
            required
            value={fixed}
            hint="Text, or JSON such as 12, true or [1, 2]."
            onChange={({ target }) => setFixed(target.value)}
          />
        )}
        {isGiven && (
          <div className="pair">
            {BOUNDS.filter(([, , of]) => (of === 'list' ? row.isList : row.isValue)).map(([name, label]) => (
              <Field
                key={name}
                label={label}
                inputMode="decimal"
                value={bounds[name] ?? ''}
                onChange={({ target }) => setBounds({ ...bounds, [name]: target.value.trim() })}
              />
            ))}
          </div>
        )}
        {isGiven && row.isValue && (
          <>
            <Field
              label="Pattern"
              value={pattern}
              hint="A regular expression that must match the whole text."
              spellCheck={false}
              onChange={({ target }) => setPattern(target.value)}
            />
            <Field
              label="Allowed values"
              value={allowed}
              hint="Commas between them; empty for any."
              onChange={({ target }) => setAllowed(target.value)}
            />
          </>
        )}
        <FormButtons onClose={onClose}>Use this rule</FormButtons>
      </Form>
    </Dialog>
  )
}

function givenIn(rule: Rule): Given {
  if (rule.value !== undefined) return 'value'
  if (rule.hide === true) return 'hide'
  if (rule.default !== undefined) return 'default'
  return rule.required === true ? 'required' : 'free'
}

function textOf(value: Json | undefined): string {
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
}

function valueOf(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

/** A number that JavaScript would round stays a string. */
function numberOf(text: string): Json {
  const read = Number(text)
  return String(read) === text ? read : text
}
