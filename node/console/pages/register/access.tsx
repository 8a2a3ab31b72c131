import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { CheckField, Field, SelectField } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { Step } from '../../parts/steps.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import type { Auth, Draft } from './draft.ts'

type Values = Readonly<Record<string, string>>

interface Kind {
  readonly value: string
  readonly name: string
  readonly fields: ReadonlyArray<{
    readonly name: string
    readonly label: string
    readonly isSecret?: boolean
    readonly isOptional?: boolean
  }>
  readonly isFor?: Draft['protocol']
  readonly auth: (values: Values) => Auth | undefined
}

const user = { name: 'username', label: 'User' }
const password = { name: 'password', label: 'Password', isSecret: true }

/** Kinds of credentials. Certificates and SOAP headers need `--auth-file` of the command line. */
const KINDS: readonly Kind[] = [
  { value: 'none', name: 'Nothing', fields: [], auth: () => undefined },
  {
    value: 'bearer',
    name: 'A bearer token',
    fields: [{ name: 'token', label: 'Token', isSecret: true }],
    auth: ({ token = '' }) => ({ bearer: token })
  },
  {
    value: 'header',
    name: 'An API key in a header',
    fields: [
      { name: 'header', label: 'Header' },
      { name: 'key', label: 'Key', isSecret: true }
    ],
    auth: ({ header = '', key = '' }) => ({ headers: { [header]: key } })
  },
  {
    value: 'query',
    name: 'An API key in the query',
    fields: [
      { name: 'parameter', label: 'Parameter' },
      { name: 'key', label: 'Key', isSecret: true }
    ],
    auth: ({ parameter = '', key = '' }) => ({ query: { [parameter]: key } })
  },
  {
    value: 'basic',
    name: 'User and password',
    fields: [user, password],
    auth: ({ username = '', password = '' }) => ({ basic: { username, password } })
  },
  {
    value: 'username_token',
    name: 'A UsernameToken in the envelope (WS-Security)',
    fields: [user, password],
    isFor: 'SOAP',
    auth: ({ username = '', password = '', digest }) => ({
      username_token: { username, password, ...(digest === 'yes' ? { digest: true } : {}) }
    })
  },
  {
    value: 'oauth2',
    name: 'OAuth 2.0 client credentials',
    fields: [
      { name: 'token_url', label: 'Address of tokens' },
      { name: 'client_id', label: 'Client id' },
      { name: 'client_secret', label: 'Client secret', isSecret: true },
      { name: 'scope', label: 'Scope', isOptional: true }
    ],
    auth: ({ token_url = '', client_id = '', client_secret = '', scope = '' }) => ({
      oauth2: { token_url, client_id, client_secret, ...(scope === '' ? {} : { scope }) }
    })
  }
]

interface AccessProps {
  readonly protocol: Draft['protocol']
  readonly isBusy: boolean
  readonly error: Error | null
  readonly onBack: () => void
  readonly onDone: (auth: Auth | undefined) => void
}

/** Step for the upstream's credentials. The page keeps them in memory only, and sends them once. */
export function AccessStep({ protocol, isBusy, error, onBack, onDone }: AccessProps) {
  const [chosen, setChosen] = useState('none')
  const [values, setValues] = useState<Values>({})
  const kinds = KINDS.filter(({ isFor }) => isFor === undefined || isFor === protocol)
  const kind = kinds.find(({ value }) => value === chosen) ?? kinds[0]
  return (
    <Step
      title="What does the API ask you for?"
      intro="This node stores credentials encrypted, and never shows them again, to consumers or on this page."
    >
      <Form onSubmit={() => onDone(kind?.auth(values))}>
        <SelectField
          label="Credentials"
          value={chosen}
          onChange={({ target }) => {
            setChosen(target.value)
            setValues({})
          }}
        >
          {kinds.map(({ value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </SelectField>
        {kind?.fields.map(({ name, label, isSecret = false, isOptional = false }) => (
          <Field
            key={`${kind.value} ${name}`}
            label={isOptional ? `${label} (optional)` : label}
            type={isSecret ? 'password' : 'text'}
            autoComplete={isSecret ? 'new-password' : 'off'}
            spellCheck={false}
            required={!isOptional}
            value={values[name] ?? ''}
            onChange={({ target }) => setValues({ ...values, [name]: target.value })}
          />
        ))}
        {kind?.value === 'username_token' && (
          <CheckField
            label="As a digest"
            checked={values['digest'] === 'yes'}
            onChange={({ target }) => setValues({ ...values, digest: target.checked ? 'yes' : 'no' })}
          />
        )}
        {error !== null && <ErrorNotice error={error} />}
        <div className="row">
          <Button look="first" type="submit" isBusy={isBusy}>
            Continue
          </Button>
          <Button look="plain" onClick={onBack}>
            Back
          </Button>
        </div>
      </Form>
    </Step>
  )
}
