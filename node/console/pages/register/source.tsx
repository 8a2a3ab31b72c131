import type { UseMutationResult } from '@tanstack/react-query'
import { protocolDescriptors } from '../../../../protocols/protocol-descriptors.ts'
import type { UpstreamCheckView } from '../../../admin/apis/description-api.ts'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/form/choice.tsx'
import { CheckField, Field, SelectField } from '../../parts/form/field.tsx'
import { base64Of, FileField } from '../../parts/form/file-field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { type Draft, type Files, formOf, sourceOf, type Wish } from './draft.ts'

export interface SourceProps {
  readonly draft: Draft
  readonly files: Files
  readonly set: (change: Partial<Draft>) => void
  readonly setFiles: (files: Files) => void
  readonly check: UseMutationResult<UpstreamCheckView, Error, Wish>
  /** Opens the credentials step. Some APIs require authentication even for their description. */
  readonly onAccess: () => void
}

/** Protocol and endpoint by hand, or as they were found. */
export function SourceStep({ draft, files, set, setFiles, check, onAccess }: SourceProps) {
  const { protocol, source } = draft
  const pick = (protocol: Draft['protocol']) => set({ protocol, source: sourceOf({ protocol, source }).from })
  return (
    <section className="card" aria-labelledby="by-hand">
      <h3 id="by-hand">Or describe it yourself</h3>
      <Form onSubmit={() => check.mutate({})}>
        <Choice
          label="Kind of API"
          value={protocol}
          onChange={pick}
          options={protocolDescriptors.map(({ name, about }) => ({ value: name, name, hint: about }))}
        />
        <Choice
          label="Its description"
          value={source}
          onChange={(source) => set({ source })}
          options={formOf(protocol).sources.map(({ from, label }) => ({ value: from, name: label }))}
        />
        <Description draft={draft} files={files} set={set} setFiles={setFiles} />
        <Endpoint draft={draft} set={set} />
        {check.error !== null && <ErrorNotice error={check.error} />}
        <div className="row">
          <Button type="submit" isBusy={check.isPending}>
            Read it
          </Button>
          <Button look="plain" onClick={onAccess}>
            The API requires authentication
          </Button>
        </div>
      </Form>
    </section>
  )
}

function Description({ draft, files, set, setFiles }: Pick<SourceProps, 'draft' | 'files' | 'set' | 'setFiles'>) {
  const { from, document, file } = sourceOf(draft)
  if (document !== undefined) {
    return (
      <Field
        {...document}
        type="url"
        required
        value={draft.openapi}
        onChange={({ target }) => set({ openapi: target.value })}
      />
    )
  }
  if (file === undefined) return from === 'hand' ? <ByHand draft={draft} set={set} /> : null
  const { label, hint, accept, member, isSeveral = false } = file
  const form = { label, accept, known: files[member]?.name, ...(hint === undefined ? {} : { hint }) }
  return member === 'wsdl' ? (
    <FileField {...form} multiple={isSeveral} read={readWsdl} onRead={(wsdl) => setFiles({ ...files, wsdl })} />
  ) : (
    <FileField {...form} read={readText} onRead={(read) => setFiles({ ...files, [member]: read })} />
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

function Endpoint({ draft, set }: Pick<SourceProps, 'draft' | 'set'>) {
  return (
    <Field
      {...sourceOf(draft).endpoint}
      type="url"
      required
      value={draft.endpoint}
      hint="It may be an address in your own network: only this node calls it."
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
