import { lazy, type ReactNode, Suspense, useState } from 'react'
import { descriptorOf } from '../../../protocols/protocol-descriptors.ts'
import type { CallInput } from '../../admin/api.ts'
import type { DescriptionView, OperationView } from '../../admin/apis/description-api.ts'
import { useCall } from '../admin/use-call.ts'
import { ResponseView } from './response.tsx'
import { Amount } from './amount.tsx'
import { Button } from './button.tsx'
import { Command, word } from './code/command.tsx'
import { CheckField, SelectField } from './form/field.tsx'
import { Form } from './form/form.tsx'
import { isJsonObject, isObject, type Json, startOf } from './form/schema.ts'
import { JsonField, SchemaForm } from './form/schema-form.tsx'

export interface TryProps {
  /** API name, or `name@provider`. */
  readonly api: string
  readonly protocol: string
  readonly description: DescriptionView
  /** Price of a call in decimal USDC. */
  readonly price: string
  /** Renders content below the form from the current request. */
  readonly children?: (body: Json, isStream: boolean) => ReactNode
}

/** Calls an API from the console. This node pays. */
export function Try({ api, protocol, description, price, children }: TryProps) {
  const { answer, send, stop } = useCall()
  const [body, setBody] = useState<Json | undefined>(() => firstBody(protocol, description))
  const [isStream, setStream] = useState(false)
  const input = { api, body: body as CallInput['body'], max_price: price, ...(isStream ? { stream: true } : {}) }
  const isRunning = answer?.isOpen === true
  return (
    <>
      <div className="two">
        <Form onSubmit={() => void send(input)}>
          <TryRequest protocol={protocol} description={description} body={body} onChange={setBody} />
          <div className="row">
            <Button look="first" type="submit" disabled={body === undefined} isBusy={isRunning}>
              Call
            </Button>
            {isRunning && (
              <Button icon="bad" onClick={stop}>
                Stop
              </Button>
            )}
            {descriptorOf(protocol)?.isUnaryOnly !== true && (
              <CheckField label="as a stream" checked={isStream} onChange={({ target }) => setStream(target.checked)} />
            )}
            <span className="quiet small">
              costs up to <Amount value={price} />
            </span>
          </div>
          {body !== undefined && (
            <Command>{`souk call ${word(api)} ${word(JSON.stringify(body))} --max-price ${price}${isStream ? ' --stream' : ''}`}</Command>
          )}
        </Form>
        {answer === undefined ? (
          <p className="quiet answer-place">The response shows here, with its status, latency, size and cost.</p>
        ) : (
          <ResponseView answer={answer} />
        )}
      </div>
      {body !== undefined && children?.(body, isStream)}
    </>
  )
}

interface TryRequestProps {
  readonly protocol: string
  readonly description: DescriptionView
  /** The request body; undefined while the input is not valid. */
  readonly body: Json | undefined
  readonly onChange: (body: Json | undefined) => void
}

/** A query that is valid for every GraphQL API. */
const FIRST_QUERY = '{\n  __typename\n}'

/** Initial body of the form. */
export function firstBody(protocol: string, { operations }: DescriptionView): Json {
  return protocol === 'GraphQL' ? { query: FIRST_QUERY, variables: {} } : bodyFor(protocol, operations[0])
}

function bodyFor(protocol: string, operation: OperationView | undefined): Json {
  const { name = '', input } = operation ?? {}
  // Without a description, any object is accepted, and calls name no operation.
  const mayBeUnnamed = descriptorOf(protocol)?.unnamedOperation !== undefined
  const isNamed = name !== '' && (!mayBeUnnamed || isObject(input?.['properties']))
  const started = input === undefined ? undefined : startOf(input, input)
  return { ...(isNamed ? { operation: name } : {}), ...(isJsonObject(started) ? started : {}) }
}

/** Builds the request: an operation with its fields, or a GraphQL document. */
export function TryRequest(props: TryRequestProps) {
  return props.protocol === 'GraphQL' ? (
    <GraphqlRequest sdl={props.description.sdl} onChange={props.onChange} />
  ) : (
    <OperationRequest {...props} />
  )
}

function OperationRequest({ protocol, description: { operations }, body, onChange }: TryRequestProps) {
  const [name, setName] = useState(operations[0]?.name ?? '')
  const named = (name: string) => operations.find((one) => one.name === name)
  const operation = named(name)
  const choose = (next: string) => {
    setName(next)
    onChange(bodyFor(protocol, named(next)))
  }
  return (
    <>
      {operations.length > 1 && (
        <SelectField label="Operation" value={name} onChange={({ target }) => choose(target.value)}>
          {operations.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </SelectField>
      )}
      {operation?.description !== undefined && <p className="quiet">{operation.description.slice(0, 300)}</p>}
      <SchemaForm key={name} label="Request" schema={operation?.input} value={body} onChange={onChange} />
    </>
  )
}

const GraphqlEditor = lazy(async () => ({ default: (await import('./code/graphql-editor.tsx')).GraphqlEditor }))

interface GraphqlRequestProps extends Pick<TryRequestProps, 'onChange'> {
  readonly sdl: string | null
}

function GraphqlRequest({ sdl, onChange }: GraphqlRequestProps) {
  const [query, setQuery] = useState(FIRST_QUERY)
  const [variables, setVariables] = useState<Json | undefined>({})
  const change = (query: string, variables: Json | undefined) => {
    setQuery(query)
    setVariables(variables)
    onChange(variables === undefined ? undefined : { query, variables })
  }
  return (
    <>
      <div className="field">
        <p className="title" aria-hidden="true">
          Query
        </p>
        <Suspense fallback={<div className="code-editor" aria-busy="true" />}>
          <GraphqlEditor label="Query" sdl={sdl} value={query} onChange={(typed) => change(typed, variables)} />
        </Suspense>
        <p className="hint">
          {sdl === null ? 'Its schema is not published.' : 'Ctrl and the space bar show what fits.'}
        </p>
      </div>
      <JsonField label="Variables" isTitled value={variables} onChange={(changed) => change(query, changed)} />
    </>
  )
}
