import { Worker } from 'node:worker_threads'
import { SoukError } from '../../lib/base/errors.ts'
import { OPENAPI_INLINE_CHARS_MAX } from '../../lib/base/limits.ts'
import type { Inspection } from '../../lib/interface/adapter.ts'
import { importOpenapi, type OpenapiSource } from './openapi-import.ts'
import type { ImportOutcome } from './openapi-worker.ts'

/**
 * As `importOpenapi`; a large document is read and checked in a thread of its own, which takes seconds, so that calls go on meanwhile.
 * @throws SoukError `invalid_request`, and the signal's reason
 */
export async function importedOpenapi(source: OpenapiSource, signal: AbortSignal): Promise<Inspection> {
  signal.throwIfAborted()
  if (source.text.length <= OPENAPI_INLINE_CHARS_MAX) return importOpenapi(source)
  // The file beside this one, as source or built.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./openapi-worker.${extension}`, import.meta.url), {
    workerData: source,
    name: 'openapi'
  })
  const { promise, resolve, reject } = Promise.withResolvers<ImportOutcome>()
  const onAbort = () => reject(signal.reason)
  const lost = (cause?: unknown) => reject(new SoukError('internal_error', undefined, { cause }))
  signal.addEventListener('abort', onAbort, { once: true })
  worker.on('message', resolve).on('error', lost).on('exit', lost)
  try {
    const outcome = await promise
    if ('inspection' in outcome) return outcome.inspection
    throw new SoukError(outcome.code, outcome.message)
  } finally {
    signal.removeEventListener('abort', onAbort)
    await worker.terminate()
  }
}
