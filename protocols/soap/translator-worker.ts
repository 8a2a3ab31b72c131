import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { SOAP_STEPS_MAX } from '../../lib/base/limits/soap.ts'
import { Meter, OutOfSteps } from '../pattern/meter.ts'
import { type ErrorCode, type ErrorSource, SoukError, isSoukError } from '../../lib/base/errors.ts'
import type { EnvelopeAuth } from './message/own-blocks.ts'
import { openSnapshot } from './snapshot.ts'
import { type JsonCall, type SoapReply, type SoapRequest, translateReply, translateRequest } from './translation.ts'

/** The data that the thread starts with. */
export interface WorkerInit {
  readonly snapshot: string
  readonly auth: EnvelopeAuth | undefined
  readonly secrets: readonly string[] | undefined
}

/** A request by a `Translator`. */
export interface Job {
  readonly id: number
  readonly work:
    | { readonly kind: 'request'; readonly call: JsonCall }
    | { readonly kind: 'reply'; readonly reply: Omit<SoapReply, 'bytes'>; readonly pieces: readonly Uint8Array[] }
}

export interface Outcome {
  readonly id: number
  readonly value?: unknown
  /** The public fields of a SoukError, because an error loses its class between threads. */
  readonly error?: {
    readonly code: ErrorCode
    readonly message: string
    readonly members?: Readonly<Record<string, unknown>> | undefined
    readonly status?: number | undefined
    readonly source?: ErrorSource | undefined
  }
}

const { snapshot, auth, secrets = [] } = workerData as WorkerInit
const service = { ...openSnapshot(snapshot).service, auth, secrets }
yieldToLoop()

parentPort?.on('message', ({ id, work }: Job) => {
  const outcome = run(id, work)
  parentPort?.postMessage(outcome, bytesOf(outcome))
})

/** Transfers the document, because copying it would block the event loop. */
function bytesOf({ value }: Outcome): ArrayBuffer[] {
  const bytes = value instanceof Uint8Array ? value : (value as SoapRequest | undefined)?.document
  return bytes?.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : []
}

function run(id: number, work: Job['work']): Outcome {
  try {
    const meter = new Meter(SOAP_STEPS_MAX)
    if (work.kind === 'request') return { id, value: translateRequest(service, work.call, meter) }
    return { id, value: translateReply(service, { ...work.reply, bytes: Buffer.concat(work.pieces) }, meter) }
  } catch (error) {
    const { code, message, members, status, source } = known(error, work.kind)
    return {
      id,
      error: {
        code,
        message,
        status,
        members,
        source
      }
    }
  }
}

function known(error: unknown, kind: Job['work']['kind']): SoukError {
  if (isSoukError(error)) return error
  if (!(error instanceof OutOfSteps)) return new SoukError('internal_error')
  const rule =
    'takes too many steps to check by the schemas of the WSDL: it has too many values for types as large as these'
  return kind === 'request'
    ? new SoukError('invalid_request', `The call ${rule}. Send fewer or shorter values.`)
    : new SoukError('upstream_invalid_response', `The SOAP service's response ${rule}.`, { source: 'upstream' })
}

/**
 * Gives the event loop and its small calls priority if cores are scarce. Linux supports priorities of threads; other systems
 * ignore this.
 */
function yieldToLoop(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Not Linux, or no /proc.
  }
}
