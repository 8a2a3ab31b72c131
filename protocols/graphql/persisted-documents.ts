import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { GRAPHQL_PERSISTED_CHARS_MAX } from '../../lib/base/limits/graphql.ts'
import type { GraphqlTerms } from '../../lib/interface/adapter.ts'
import { invalid, malformed } from './graphql-refusal.ts'
import type { GraphqlRequest } from './graphql-request.ts'

/** Resolves the document of a request, which may send an id instead of the text. */
export interface PersistedDocuments {
  /** @throws GraphqlRefusal */
  textFor(request: GraphqlRequest): string
}

/**
 * A request may identify a document in two ways: by the provider's id for a trusted document, or by its SHA-256 after it was sent
 * once with it (automatic persisted queries, the protocol of Apollo's clients).
 */
export function persistedDocuments({ documents = {}, documentsOnly = false }: GraphqlTerms): PersistedDocuments {
  const trusted = new Map(Object.entries(documents))
  for (const text of Object.values(documents)) trusted.set(hashOf(text), text)
  const learned = new LRUCache<string, string>({
    maxSize: GRAPHQL_PERSISTED_CHARS_MAX,
    sizeCalculation: (text) => Math.max(1, text.length)
  })

  function byHash(hash: string, query: string | undefined): string {
    if (query === undefined) {
      const text = trusted.get(hash) ?? learned.get(hash)
      if (text === undefined) throw invalid('PersistedQueryNotFound', 'PERSISTED_QUERY_NOT_FOUND')
      return text
    }
    if (hashOf(query) !== hash) throw malformed('The hash in "persistedQuery" does not match "query".')
    if (!documentsOnly) learned.set(hash, query)
    return query
  }

  function named({ query, documentId, extensions }: GraphqlRequest): string {
    if (documentId !== undefined && query === undefined) {
      const text = trusted.get(documentId)
      if (text === undefined) throw invalid('There is no trusted document with this id.', 'DOCUMENT_NOT_FOUND')
      return text
    }
    const hash = hashIn(extensions['persistedQuery'])
    if (hash !== undefined) return byHash(hash, query)
    if (query === undefined) throw malformed('"query" is missing. Send the text of an operation.')
    return query
  }

  return {
    textFor(request) {
      const text = named(request)
      if (documentsOnly && !trusted.has(hashOf(text))) {
        throw invalid('This API runs only trusted documents.', 'DOCUMENT_NOT_TRUSTED')
      }
      return text
    }
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** @throws GraphqlRefusal */
function hashIn(extension: unknown): string | undefined {
  if (extension === undefined) return undefined
  const { version, sha256Hash } = (typeof extension === 'object' && extension !== null ? extension : {}) as {
    readonly version?: unknown
    readonly sha256Hash?: unknown
  }
  if (version === 1 && typeof sha256Hash === 'string') return sha256Hash.toLowerCase()
  throw malformed('"persistedQuery" must contain version 1 and "sha256Hash".')
}
