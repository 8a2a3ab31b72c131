import { parentPort, workerData } from 'node:worker_threads'
import { type ErrorCode, isSoukError, SoukError } from '../../lib/base/errors.ts'
import type { Inspection } from '../../lib/interface/adapter.ts'
import { importOpenapi, type OpenapiSource } from './openapi-import.ts'

/** What the thread ends with. An error loses its class between threads: these are a SoukError's public parts. */
export type ImportOutcome = { readonly inspection: Inspection } | { readonly code: ErrorCode; readonly message: string }

async function run(): Promise<ImportOutcome> {
  try {
    return { inspection: await importOpenapi(workerData as OpenapiSource) }
  } catch (error) {
    const { code, message } = isSoukError(error) ? error : new SoukError('internal_error')
    return { code, message }
  }
}

const outcome = await run()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(outcome)
