import type { UseMutationResult } from '@tanstack/react-query'
import type { UpstreamCheckView } from '../../../admin/description-api.ts'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/choice.tsx'
import { CheckField, Field, SelectField } from '../../parts/field.tsx'
import { base64Of, FileField } from '../../parts/file-field.tsx'
import { Form } from '../../parts/form.tsx'
import { Step } from '../../parts/steps.tsx'
import { Trouble } from '../../parts/trouble.tsx'
import type { Draft, Files, Source } from './draft.ts'
import { PROTOCOLS } from './draft.ts'

export interface SourceProps {
  readonly draft: Draft
  readonly files: Files
  readonly set: (change: Partial<Draft>) => void
  readonly setFiles: (files: Files) => void
  readonly check: UseMutationResult<UpstreamCheckView, Error, void>
  /** Some APIs tell nothing before they know who asks. */
  readonly onAccess: () => void
}

const ABOUT: Readonly<Record<Draft['protocol'], string>> = {
  REST: 'JSON over HTTP',
  SOAP: 'described by a WSDL',
  GraphQL: 'one endpoint, a schema'
}
const SOURCES: Readonly<Record<Draft['protocol'], ReadonlyArray<{ readonly value: Source; readonly name: string }>>> = {
  REST: [
    { value: 'url', name: 'OpenAPI by address' },
    { value: 'file', name: 'OpenAPI file' },
    { value: 'hand', name: 'By hand' }
  ],
  SOAP: [
    { value: 'url', name: 'WSDL by address' },
    { value: 'file', name: 'WSDL file or zip' }
  ],
  GraphQL: [
    { value: 'url', name: 'Ask the endpoint' },
    { value: 'file', name: 'Schema file' }
  ]
}

/** What the API is, and where. */
export function SourceStep({ draft, files, set, setFiles, check, onAccess }: SourceProps) {
  const { protocol, source } = draft
  const pick = (protocol: Draft['protocol']) =>
    set({ protocol, source: SOURCES[protocol].some(({ value }) => value === source) ? source : 'url' })
  return (
    <Step title="What do you sell?" intro="The node reads it from here; nothing is published before the last step.">
      <Form onSubmit={() => check.mutate()}>
        <Choice
          label="Kind of API"
          value={protocol}
          onChange={pick}
          options={PROTOCOLS.map((value) => ({ value, name: value, hint: ABOUT[value] }))}
        />
        <Choice
          label="Its description"
          value={source}
          onChange={(source) => set({ source })}
          options={SOURCES[protocol]}
        />
        <Description draft={draft} files={files} set={set} setFiles={setFiles} />
        <Endpoint draft={draft} set={set} />
        {check.error !== null && <Trouble error={check.error} />}
        <div className="row">
          <Button look="first" type="submit" isBusy={check.isPending}>
            Read it
          </Button>
          <Button look="plain" onClick={onAccess}>
            It wants credentials first
          </Button>
        </div>
      </Form>
    </Step>
  )
}

function Description({ draft, files, set, setFiles }: Pick<SourceProps, 'draft' | 'files' | 'set' | 'setFiles'>) {
  const { protocol, source } = draft
  if (protocol === 'REST' && source === 'url') {
    return (
      <Field
        label="Address of the OpenAPI document"
        type="url"
        required
        value={draft.openapi}
        placeholder="https://api.example.com/openapi.json"
        onChange={({ target }) => set({ openapi: target.value })}
      />
    )
  }
  if (source !== 'file') return protocol === 'REST' ? <ByHand draft={draft} set={set} /> : null
  if (protocol === 'SOAP') {
    return (
      <FileField
        label="WSDL"
        hint="The WSDL with all that it imports, or one zip of them."
        accept=".wsdl,.xsd,.xml,.zip"
        multiple
        known={files.wsdl?.name}
        read={readWsdl}
        onRead={(wsdl) => setFiles({ ...files, wsdl })}
      />
    )
  }
  const [label, accept, kind] =
    protocol === 'REST'
      ? (['OpenAPI document', '.json,.yaml,.yml', 'openapi'] as const)
      : (['Schema, SDL', '.graphql,.graphqls,.gql,.sdl', 'sdl'] as const)
  return (
    <FileField
      label={label}
      accept={accept}
      known={files[kind]?.name}
      read={readText}
      onRead={(read) => setFiles({ ...files, [kind]: read })}
    />
  )
}

function ByHand({ draft, set }: Pick<SourceProps, 'draft' | 'set'>) {
  return (
    <>
      <SelectField
        label="Method"
        value={draft.method}
        onChange={({ target }) => set({ method: target.value as Draft['method'] })}
        hint="A call's JSON becomes the body, or for GET and DELETE the query."
      >
        {['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => (
          <option key={method}>{method}</option>
        ))}
      </SelectField>
      <CheckField
        label="Calls say their own method and path"
        hint="Everything below the endpoint can be called."
        checked={draft.isExplicit}
        onChange={({ target }) => set({ isExplicit: target.checked })}
      />
    </>
  )
}

function Endpoint({ draft: { protocol, source, endpoint }, set }: Pick<SourceProps, 'draft' | 'set'>) {
  const isWsdl = protocol === 'SOAP' && source === 'url'
  const [label, placeholder] = isWsdl
    ? ['Address of the WSDL', 'https://bank.example.com/account?wsdl']
    : protocol === 'GraphQL'
      ? ['Endpoint', 'https://api.example.com/graphql']
      : protocol === 'SOAP'
        ? ['Address of the service', 'https://bank.example.com/account']
        : ['Address of the API', 'https://api.example.com/v1']
  return (
    <Field
      label={label}
      type="url"
      required
      value={endpoint}
      placeholder={placeholder}
      hint="One of your own network will do: only this node calls it."
      onChange={({ target }) => set({ endpoint: target.value.trim() })}
    />
  )
}

async function readText([file]: readonly File[]): Promise<{ name: string; text: string }> {
  if (file === undefined) throw new Error('Choose a file.')
  return { name: file.name, text: await file.text() }
}

async function readWsdl(files: readonly File[]): Promise<NonNullable<Files['wsdl']>> {
  const [first] = files
  if (first === undefined) throw new Error('Choose a file.')
  const name = files.map((file) => file.name).join(', ')
  if (first.name.toLowerCase().endsWith('.zip')) return { name, input: { zip: await base64Of(first) } }
  const read = files.map(async (file) => [file.name, await base64Of(file)] as const)
  return { name, input: { files: Object.fromEntries(await Promise.all(read)) } }
}
