import { useSearchParams } from 'wouter'
import type { CallLine } from '../../../admin/events/webhook-api.ts'
import { Button } from '../../parts/button.tsx'
import { SelectField } from '../../parts/form/field.tsx'

export interface CallFilters {
  readonly way?: string
  readonly api?: string
  readonly result?: string
  /** A Souk error code, or a status. */
  readonly code?: string
}

const NAMES = ['way', 'api', 'result', 'code'] as const

/** Reads the filters from the URL. */
export function filtersIn(params: URLSearchParams): CallFilters {
  return Object.fromEntries(NAMES.flatMap((name) => (params.get(name) ? [[name, params.get(name) ?? '']] : [])))
}

export function passes(call: CallLine, { way, api, result, code }: CallFilters): boolean {
  return (
    (way === undefined || way === (call.role === 'owner' ? 'served' : 'made')) &&
    (api === undefined || api === call.api) &&
    (result === undefined || (result === 'errors') === (errorOf(call) !== undefined)) &&
    (code === undefined || code === errorOf(call))
  )
}

/** Name of a call's error; undefined for success. */
export function errorOf({ code, status }: CallLine): string | undefined {
  return code ?? (status >= 400 ? String(status) : undefined)
}

/** Filters are stored in the URL, so that users can bookmark and share them. */
export function Filters({ calls }: { readonly calls: readonly CallLine[] }) {
  const [params, setParams] = useSearchParams()
  const { way = '', api = '', result = '', code } = filtersIn(params)
  const set = (name: (typeof NAMES)[number], value: string | undefined) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        if (value === undefined || value === '') next.delete(name)
        else next.set(name, value)
        return next
      },
      { replace: true }
    )
  const apis = [...new Set([...calls.map((call) => call.api), ...(api === '' ? [] : [api])])].toSorted()
  return (
    <>
      <search className="filters">
        <SelectField label="Way" value={way} onChange={({ target }) => set('way', target.value)}>
          <option value="">served and made</option>
          <option value="served">served here</option>
          <option value="made">made from here</option>
        </SelectField>
        <SelectField label="API" value={api} onChange={({ target }) => set('api', target.value)}>
          <option value="">all</option>
          {apis.map((id) => (
            <option key={id} value={id}>
              {id.split('@')[0]} …{id.slice(-6)}
            </option>
          ))}
        </SelectField>
        <SelectField label="Result" value={result} onChange={({ target }) => set('result', target.value)}>
          <option value="">any</option>
          <option value="ok">answered</option>
          <option value="errors">errors</option>
        </SelectField>
      </search>
      <Errors calls={calls} code={code} onChoose={(code) => set('code', code)} />
    </>
  )
}

interface ErrorsProps {
  readonly calls: readonly CallLine[]
  readonly code: string | undefined
  readonly onChoose: (code: string | undefined) => void
}

/** Error counts, most frequent first. Selecting one filters the calls. */
function Errors({ calls, code, onChoose }: ErrorsProps) {
  const counts = new Map<string, number>()
  for (const call of calls) {
    const error = errorOf(call)
    if (error !== undefined) counts.set(error, (counts.get(error) ?? 0) + 1)
  }
  const most = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, 6)
  if (most.length === 0 && code === undefined) return null
  return (
    <div className="row" role="group" aria-label="Errors">
      <span className="quiet small">Errors</span>
      {most.map(([error, count]) => (
        <Button
          key={error}
          className="small"
          aria-pressed={error === code}
          onClick={() => onChoose(error === code ? undefined : error)}
        >
          <code>{error}</code> {count}
        </Button>
      ))}
      {code !== undefined && !counts.has(code) && (
        <Button className="small" aria-pressed onClick={() => onChoose(undefined)}>
          <code>{code}</code> 0
        </Button>
      )}
    </div>
  )
}
