import type { Inspection } from '../../lib/interface/adapter.ts'
import { isObject } from '../exact-json.ts'
import { describeOpenapi } from './openapi-description.ts'
import { type OpenapiDocument, readOpenapi } from './openapi-document.ts'
import { operationsOf } from './openapi-operations.ts'
import { writeSnapshot } from './snapshot.ts'

/** A document, and the address that its operations are called below. */
export interface OpenapiSource {
  readonly text: string
  readonly endpoint: string
}

/** What is kept of a document and published of it. @throws SoukError `invalid_request`, saying what is wrong with it */
export async function importOpenapi({ text, endpoint }: OpenapiSource): Promise<Inspection> {
  const document = await readOpenapi(text)
  const { api, warnings } = operationsOf(document)
  const described = describeOpenapi(api)
  return {
    description: described.description,
    snapshot: writeSnapshot(api, described.description),
    warnings: [...baseWarnings(document, endpoint), ...warnings, ...described.warnings]
  }
}

/** Paths of a document are below its own base address; called are those below the endpoint, which its provider chose. */
function baseWarnings({ root }: OpenapiDocument, endpoint: string): string[] {
  const { servers, basePath } = root
  const [server] = Array.isArray(servers) ? (servers as unknown[]) : []
  const given = isObject(server) ? server['url'] : basePath
  if (typeof given !== 'string' || given.includes('{')) return []
  const pathOf = (url: string) => URL.parse(url, endpoint)?.pathname.replace(/\/$/, '')
  const [base, own] = [pathOf(given), pathOf(endpoint)]
  if (base === undefined || base === own) return []
  return [`The document’s paths are below ${base}/, but are called below ${own}/: is the endpoint the right one?`]
}
