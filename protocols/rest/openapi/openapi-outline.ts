import type { DescribedApi } from '../../../lib/interface/adapter.ts'
import { isObject, type JsonObject } from '../../exact-json.ts'
import { type OpenapiTexts, readReferences, versionOf } from './openapi-document.ts'
import { addressesIn, type DocumentHead, documentServers } from './openapi-servers.ts'

export interface OpenapiOutline extends DescribedApi {
  /** Addresses of other files that the document refers to, without those that are given. */
  readonly missing: readonly string[]
}

const DESCRIPTION_CHARS = 1_000
const SERVERS_SHOWN = 100

/** The parts of a document that a registration needs before it reads the rest. @throws SoukError `invalid_request` */
export function outlineOpenapi(texts: OpenapiTexts): OpenapiOutline {
  const references = readReferences(texts)
  const { root } = references
  return { ...aboutOf({ root, references, version: versionOf(root) }), missing: [...references.missing] }
}

export function aboutOf(document: DocumentHead): DescribedApi {
  const { root, references } = document
  const { title, description } = isObject(root['info']) ? root['info'] : {}
  const base = /^https?:/.test(references.url) ? references.url : undefined
  const servers = [...new Set([...documentServers(document), ...partServers(root, base)])]
  return {
    ...(typeof title === 'string' ? { title: title.slice(0, DESCRIPTION_CHARS) } : {}),
    ...(typeof description === 'string' ? { description: description.slice(0, DESCRIPTION_CHARS) } : {}),
    servers: servers.slice(0, SERVERS_SHOWN)
  }
}

/** The addresses that a document states for single paths or operations. */
export function partServers({ paths }: JsonObject, base: string | undefined): string[] {
  const items = Object.values(isObject(paths) ? paths : {}).filter(isObject)
  const holders = [...items, ...items.flatMap((item) => Object.values(item).filter(isObject))]
  return holders.flatMap(({ servers }) => addressesIn(servers, base))
}
