import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId
} from 'react'

interface LabelInit {
  readonly label: ReactNode
  readonly hint?: ReactNode
  /** Error message of the field. */
  readonly fault?: string | undefined
}

interface Wired {
  readonly id: string
  readonly className: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string
}

interface FieldProps extends LabelInit, Omit<InputHTMLAttributes<HTMLInputElement>, 'id'> {}

/** One input with its label. Screen readers read hint and error with it. */
export function Field({ label, hint, fault, ...input }: FieldProps) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(wired) => <input {...input} {...wired} />}
    </Labelled>
  )
}

interface SelectFieldProps extends LabelInit, Omit<SelectHTMLAttributes<HTMLSelectElement>, 'id'> {}

export function SelectField({ label, hint, fault, children, ...select }: SelectFieldProps) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(wired) => (
        <select {...select} {...wired}>
          {children}
        </select>
      )}
    </Labelled>
  )
}

interface TextFieldProps extends LabelInit, Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'id'> {}

/** Input for several lines. */
export function TextField({ label, hint, fault, ...area }: TextFieldProps) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(wired) => <textarea spellCheck={false} {...area} {...wired} />}
    </Labelled>
  )
}

interface CheckFieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'id' | 'type'> {
  readonly label: ReactNode
  readonly hint?: ReactNode
}

export function CheckField({ label, hint, ...input }: CheckFieldProps) {
  const id = useId()
  return (
    <div className="check">
      <input {...input} type="checkbox" id={id} aria-describedby={`${id}-hint`} />
      <label htmlFor={id}>{label}</label>
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

function Labelled({ label, hint, fault, children }: LabelInit & { readonly children: (wired: Wired) => ReactNode }) {
  const id = useId()
  const wired = {
    id,
    className: 'input',
    'aria-invalid': fault !== undefined,
    'aria-describedby': `${id}-hint ${id}-fault`
  }
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(wired)}
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {fault !== undefined && (
        <p className="fault" id={`${id}-fault`} role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}
