import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { MappingInput } from '../../../admin/api.ts'
import type { MappingPreviewView } from '../../../admin/apis/description-api.ts'
import { request } from '../../admin/client.ts'
import { type ApiView, queries } from '../../admin/queries.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/form/choice.tsx'
import { Command, word } from '../../parts/code/command.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty } from '../../parts/empty.tsx'
import { CheckField, SelectField } from '../../parts/form/field.tsx'
import { Loaded, Loading } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { isObject, type Json } from '../../parts/form/schema.ts'
import { JsonField } from '../../parts/form/schema-form.tsx'
import { useKept } from '../../parts/form/use-kept.ts'
import { Table } from '../../parts/table.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { useLate } from '../../parts/use-late.ts'
import {
  type MappingDocument,
  PLAIN,
  type Row,
  type Rule,
  rowsOf,
  ruleAt,
  ruleText,
  type Side,
  withRule
} from './mapping-document.ts'
import { MappingPreview } from './mapping-preview.tsx'
import { RuleDialog } from './mapping-rule.tsx'

const PREVIEW_DELAY_MS = 300

/** Higher than every stored revision. The node assigns real revisions when a mapping is saved. */
const PREVIEW_REVISION = Number.MAX_SAFE_INTEGER

function save(name: string, document: object, revision: number) {
  const mapping = { ...document, revision } as MappingInput['mapping']
  return request('PUT /apis/:name/mapping', { params: { name }, body: { mapping } })
}

/** Asks the node for a preview of the API with this mapping. */
function usePreview({ name, revision }: ApiView, document: unknown) {
  const mapping = isObject(document) ? { ...document, revision: PREVIEW_REVISION } : document
  return useQuery({
    queryKey: ['previews', name, revision, mapping],
    queryFn: ({ signal }) =>
      request('POST /apis/:name/mapping/preview', {
        params: { name },
        body: { mapping: mapping as MappingInput['mapping'] },
        signal
      }),
    // While the user types, the text may not be valid JSON.
    enabled: mapping !== undefined,
    placeholderData: keepPreviousData,
    staleTime: Infinity
  })
}

/** Editor for the mapping of a SOAP API. */
export function ApiMapping({ api }: { readonly api: ApiView }) {
  const kept = useQuery({ ...queries.mapping(api.name), staleTime: Infinity })
  const plain = usePreview(api, PLAIN)
  const [loads, setLoads] = useState(0)
  return (
    <Loaded query={kept}>
      {({ mapping }) => (
        <Loaded query={plain}>
          {(view) => (
            <Editor
              key={`${api.name} ${loads}`}
              api={api}
              stored={mapping as MappingDocument}
              plain={view}
              onReload={() => setLoads(loads + 1)}
            />
          )}
        </Loaded>
      )}
    </Loaded>
  )
}

interface EditorProps {
  readonly api: ApiView
  /** A newer one, from another tab or a command, replaces what is edited here only when the user wants that. */
  readonly stored: MappingDocument
  readonly plain: MappingPreviewView
  /** Starts again with the stored mapping. */
  readonly onReload: () => void
}

/** An edited mapping, and the stored one that it started from. */
interface Draft {
  readonly from: MappingDocument
  readonly document: Json | undefined
}

function useDraft({ api: { name }, stored, onReload }: EditorProps) {
  const [draft, setDraft] = useKept<Draft>(`mapping ${name}`)
  const [first] = useState(stored)
  const kept = draft?.from ?? first
  return {
    kept,
    document: draft === undefined ? (kept as unknown as Json) : draft.document,
    setDocument: (document: Json | undefined) => setDraft({ from: kept, document }),
    undo: () => setDraft(undefined),
    /** Starts again with the stored mapping. */
    restart: () => {
      setDraft(undefined)
      onReload()
    }
  }
}

function Editor(props: EditorProps) {
  const { api, stored, plain } = props
  const { name } = api
  const { kept, document, setDocument, undo, restart } = useDraft(props)
  const [view, setView] = useState<'fields' | 'json'>('fields')
  const [isResetting, setResetting] = useState(false)
  const preview = usePreview(api, useLate(document, PREVIEW_DELAY_MS))
  const problems = preview.data?.problems ?? []
  const isChanged = JSON.stringify(document) !== JSON.stringify(kept)
  const saving = useWrite(() => save(name, document as object, kept.revision + 1), ['apis'], restart)
  const isOutdated = stored.revision !== kept.revision && !saving.isPending
  useEffect(() => {
    if (isOutdated && !isChanged) restart()
  })
  return (
    <>
      {isOutdated && isChanged && (
        <Notice>
          <p>
            Another tab or a command has changed the mapping. It is now at revision {stored.revision}. Copy what you
            need from below, then load that one.
          </p>
          <Button onClick={restart}>Load the stored mapping</Button>
        </Notice>
      )}
      <div className="row between">
        <Choice
          label="Edit as"
          isBare
          value={view}
          onChange={setView}
          options={[
            { value: 'fields', name: 'Fields' },
            { value: 'json', name: 'JSON' }
          ]}
        />
        <span className="quiet">mapping revision {kept.revision}</span>
      </div>
      {view === 'json' ? (
        <JsonField label="Mapping" value={document} onChange={setDocument} />
      ) : !isObject(document) || !isObject(document['operations']) ? (
        <Notice>The JSON is not a valid mapping: it needs version, revision and operations.</Notice>
      ) : (
        <Fields
          document={document as unknown as MappingDocument}
          plain={plain}
          preview={preview.data}
          onChange={(changed) => setDocument(changed as unknown as Json)}
        />
      )}
      <Problems problems={problems} />
      {preview.error !== null && <ErrorNotice error={preview.error} onRetry={() => void preview.refetch()} />}
      {saving.error !== null && <ErrorNotice error={saving.error} />}
      <Command>{`souk mapping set ${word(name)} mapping.json`}</Command>
      <div className="row">
        <Button
          look="first"
          disabled={!isChanged || isOutdated || document === undefined || problems.length > 0}
          isBusy={saving.isPending}
          onClick={() => saving.mutate(undefined)}
        >
          Save and publish
        </Button>
        <Button disabled={!isChanged} onClick={undo}>
          Undo all
        </Button>
        <Button look="plain" onClick={() => setResetting(true)}>
          The WSDL alone
        </Button>
      </div>
      {isResetting && (
        <Confirm
          title="Forget the mapping?"
          action="Forget it"
          instead="Keep it"
          isGrave
          command={`souk mapping rm ${word(name)}`}
          write={() => save(name, PLAIN, stored.revision + 1)}
          changes={['apis']}
          onClose={() => setResetting(false)}
          onDone={restart}
        >
          <p>The JSON of the API follows the WSDL again. Callers that use the old names get an error.</p>
        </Confirm>
      )}
    </>
  )
}

function Problems({ problems }: { readonly problems: MappingPreviewView['problems'] }) {
  if (problems.length === 0) return null
  return (
    <Notice>
      <p>
        <strong>This does not fit the WSDL:</strong>
      </p>
      <ul>
        {problems.map(({ at, problem }) => (
          <li key={`${at} ${problem}`}>
            <code>{at === '' ? '/' : at}</code> {problem}
          </li>
        ))}
      </ul>
    </Notice>
  )
}

interface FieldsProps {
  readonly document: MappingDocument
  readonly plain: MappingPreviewView
  readonly preview: MappingPreviewView | undefined
  readonly onChange: (document: MappingDocument) => void
}

function Fields({ document, plain, preview, onChange }: FieldsProps) {
  const [name, setName] = useState(plain.operations[0]?.name ?? '')
  const [side, setSide] = useState<Side>('input')
  const [ruled, setRuled] = useState<Row>()
  const operation = plain.operations.find((one) => one.name === name)
  const rows = operation?.[side] === undefined ? [] : rowsOf(operation[side])
  const put = (path: string, rule: Rule) => onChange(withRule(document, name, side, path, rule))
  return (
    <>
      <div className="two">
        <SelectField label="Operation" value={name} onChange={({ target }) => setName(target.value)}>
          {plain.operations.map((one) => (
            <option key={one.name} value={one.name}>
              {one.name}
              {document.operations[one.name] === undefined ? '' : ' (changed)'}
            </option>
          ))}
        </SelectField>
        <Choice
          label="Side"
          value={side}
          onChange={setSide}
          options={[
            { value: 'input', name: 'Request' },
            { value: 'output', name: 'Answer' }
          ]}
        />
      </div>
      {rows.length === 0 ? (
        <Empty title="No field is described">
          The message is empty, or too large to show. Write its mapping as JSON.
        </Empty>
      ) : (
        <Rows
          key={`${name} ${side}`}
          caption={`Fields of ${name}`}
          rows={rows}
          side={side}
          ruleOf={(path) => ruleAt(document, name, side, path)}
          onRule={setRuled}
          onChange={put}
        />
      )}
      {preview === undefined ? (
        <Loading />
      ) : (
        preview.problems.length === 0 && (
          <MappingPreview
            operation={name}
            side={side}
            plain={operation}
            mapped={preview.operations.find((one) => one.name === name)}
            document={document}
          />
        )
      )}
      {ruled !== undefined && (
        <RuleDialog
          row={ruled}
          rule={ruleAt(document, name, side, ruled.path)}
          onClose={() => setRuled(undefined)}
          onDone={(rule) => {
            put(ruled.path, rule)
            setRuled(undefined)
          }}
        />
      )}
    </>
  )
}

interface RowsProps {
  readonly caption: string
  readonly rows: readonly Row[]
  readonly side: Side
  readonly ruleOf: (path: string) => Rule
  readonly onRule: (row: Row) => void
  readonly onChange: (path: string, rule: Rule) => void
}

function Rows({ caption, rows, side, ruleOf, onRule, onChange }: RowsProps) {
  const rename = ({ path }: Row, to: string) => {
    const { rename: _, ...rest } = ruleOf(path)
    onChange(path, to === '' || to === lastOf(path) ? rest : { ...rest, rename: to })
  }
  const hide = ({ path }: Row, isHidden: boolean) => {
    const { hide: _, ...rest } = ruleOf(path)
    onChange(path, isHidden ? { ...rest, hide: true } : rest)
  }
  return (
    <Table
      caption={caption}
      rows={rows}
      keyOf={({ path }) => path}
      columns={[
        {
          title: 'Field of the WSDL',
          cell: ({ path, depth, description }) => (
            <span style={{ paddingInlineStart: `${depth * 1.1}rem` }} title={description}>
              <code>{lastOf(path)}</code>
            </span>
          )
        },
        { title: 'Type', cell: ({ type }) => <span className="quiet">{type}</span> },
        { title: 'Required', cell: ({ isRequired }) => (isRequired ? 'yes' : <span className="quiet">no</span>) },
        {
          title: 'Name in the JSON',
          cell: (row) => (
            <input
              className="input"
              aria-label={`Name of ${row.path}`}
              value={ruleOf(row.path).rename ?? ''}
              placeholder={lastOf(row.path)}
              spellCheck={false}
              onChange={({ target }) => rename(row, target.value)}
            />
          )
        },
        {
          title: 'Rule',
          cell: (row) =>
            side === 'output' ? (
              <CheckField
                label={
                  <>
                    Hide<span className="visually-hidden"> {row.path}</span>
                  </>
                }
                checked={ruleOf(row.path).hide === true}
                onChange={({ target }) => hide(row, target.checked)}
              />
            ) : (
              <RuleButton row={row} text={ruleText(ruleOf(row.path)) || 'none'} onClick={() => onRule(row)} />
            )
        }
      ]}
    />
  )
}

function RuleButton({
  row,
  text,
  onClick
}: {
  readonly row: Row
  readonly text: string
  readonly onClick: () => void
}) {
  return (
    <Button look="plain" onClick={onClick} aria-label={`Rule for ${row.path}: ${text}`}>
      {text}
    </Button>
  )
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
