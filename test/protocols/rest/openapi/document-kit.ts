import assert from 'node:assert/strict'
import { OpenapiCalls } from '../../../../protocols/rest/openapi/openapi-call.ts'
import { importOpenapi, type OpenapiSource } from '../../../../protocols/rest/openapi/openapi-import.ts'
import { readSnapshot } from '../../../../protocols/rest/snapshot.ts'

const NEVER = new AbortController().signal
const endpoint = 'https://api.example/v1'

export type Json = Record<string, unknown>

/** An imported document, and its calls. */
export function callsOf(document: Json, more: Partial<OpenapiSource> = {}) {
  const imported = importOpenapi({ text: JSON.stringify(document), endpoint, ...more })
  const snapshot = readSnapshot(imported.snapshot) ?? assert.fail('no snapshot')
  const calls = new OpenapiCalls(snapshot.api)
  return { ...imported, map: (call: Json) => calls.map(JSON.parse(JSON.stringify(call)) as Json, NEVER) }
}

/** A document whose only operation is `op`, by POST. */
export function documentOf(operation: Json, path = '/x', version = '3.1.0', more: Json = {}): Json {
  const responses = { 200: { description: 'ok' } }
  const kind = version === '2.0' ? { swagger: '2.0' } : { openapi: version }
  const info = { title: 't', version: '1' }
  return { ...kind, info, paths: { [path]: { post: { operationId: 'op', responses, ...operation } } }, ...more }
}
