import { parentPort, workerData } from 'node:worker_threads'
import { type ErrorCode, type ErrorSource, SoukError, isSoukError } from '../../lib/base/errors.ts'
import { openSnapshot } from './snapshot.ts'
import { type JsonCall, type SoapReply, translateReply, translateRequest } from './translation.ts'

/** What a `Translator` asks for. */
export interface Job {
  readonly id: number
  readonly work:
    | { readonly kind: 'request'; readonly call: JsonCall }
    | { readonly kind: 'reply'; readonly reply: SoapReply }
}

export interface Outcome {
  readonly id: number
  readonly value?: unknown
  /** A SoukError's public parts: an error loses its class between threads. */
  readonly error?: {
    readonly code: ErrorCode
    readonly message: string
    readonly members?: Readonly<Record<string, unknown>>
    readonly status?: number
    readonly source?: ErrorSource
  }
}

const { service } = openSnapshot(String(workerData))

parentPort?.on('message', ({ id, work }: Job) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  parentPort?.postMessage(run(id, work))
})

function run(id: number, work: Job['work']): Outcome {
  try {
    return {
      id,
      value: work.kind === 'request' ? translateRequest(service, work.call) : translateReply(service, work.reply)
    }
  } catch (error) {
    const { code, message, members, status, source } = isSoukError(error) ? error : new SoukError('internal_error')
    return {
      id,
      error: {
        code,
        message,
        status,
        ...(members === undefined ? {} : { members }),
        ...(source === undefined ? {} : { source })
      }
    }
  }
}
