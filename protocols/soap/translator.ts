import { Worker } from 'node:worker_threads'
import { SoukError } from '../../lib/base/errors.ts'
import { SOAP_INLINE_BYTES_MAX, SOAP_INLINE_STEPS_MAX } from '../../lib/base/limits/soap.ts'
import { Meter, OutOfSteps } from '../pattern/meter.ts'
import { joined } from '../upstream/response.ts'
import type { SoapService } from './service.ts'
import { type JsonCall, type SoapReply, type SoapRequest, translateReply, translateRequest } from './translation.ts'
import type { Job, Outcome, WorkerInit } from './translator-worker.ts'

interface Pending {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/**
 * Translates small documents synchronously. Large or expensive documents are translated in a separate thread, so that they do not
 * delay other calls. The thread starts with the first such document and loads the same snapshot.
 */
export class Translator {
  readonly #service: SoapService
  readonly #snapshot: string
  readonly #pending = new Map<number, Pending>()
  #worker: Worker | undefined
  #ids = 0
  #closed = false

  constructor(service: SoapService, snapshot: string) {
    this.#service = service
    this.#snapshot = snapshot
  }

  /** Like `translateRequest`. A large call is translated in a worker thread. */
  async request(call: JsonCall): Promise<SoapRequest> {
    if (call.bytes.length <= SOAP_INLINE_BYTES_MAX) {
      const request = atOnce((meter) => translateRequest(this.#service, call, meter))
      if (request !== TOO_MUCH) return request
    }
    return (await this.#run({ kind: 'request', call: { ...call, bytes: owned(call.bytes) } })) as SoapRequest
  }

  /** Like `translateReply`, for a document in pieces. The worker thread joins its own pieces. */
  async reply(reply: Omit<SoapReply, 'bytes'>, pieces: readonly Uint8Array[]): Promise<Uint8Array | undefined> {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
    if (length <= SOAP_INLINE_BYTES_MAX) {
      const whole = { ...reply, bytes: joined(pieces) }
      const json = atOnce((meter) => translateReply(this.#service, whole, meter))
      if (json !== TOO_MUCH) return json
    }
    return (await this.#run({ kind: 'reply', reply, pieces: pieces.map(owned) })) as Uint8Array | undefined
  }

  /** Aborts running translations. */
  async close(): Promise<void> {
    this.#closed = true
    this.#fail(new SoukError('call_interrupted'))
    await this.#worker?.terminate()
  }

  #run(work: Job['work']): Promise<unknown> {
    if (this.#closed) return Promise.reject(new SoukError('call_interrupted'))
    const id = this.#ids++
    const worker = (this.#worker ??= this.#start())
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      const job: Job = { id, work }
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(job)
      // The process may exit while the thread is idle, but not while a caller waits for it.
      worker.ref()
    })
  }

  #start(): Worker {
    // This file's neighbour, as source or built.
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const url = new URL(`./translator-worker.${extension}`, import.meta.url)
    const { auth, secrets } = this.#service
    const worker = new Worker(url, {
      workerData: { snapshot: this.#snapshot, auth, secrets } satisfies WorkerInit,
      name: 'soap'
    })
    const lost = (cause?: unknown) => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#fail(new SoukError('internal_error', undefined, { cause }))
    }
    return worker
      .on('message', (outcome: Outcome) => this.#settle(worker, outcome))
      .on('error', lost)
      .on('exit', lost)
  }

  #settle(worker: Worker, outcome: Outcome): void {
    const pending = this.#pending.get(outcome.id)
    this.#pending.delete(outcome.id)
    if (this.#pending.size === 0) worker.unref()
    if (outcome.error === undefined) pending?.resolve(outcome.value)
    else {
      const { code, message, ...options } = outcome.error
      pending?.reject(new SoukError(code, message, options))
    }
  }

  #fail(error: SoukError): void {
    for (const pending of this.#pending.values()) pending.reject(error)
    this.#pending.clear()
  }
}

const TOO_MUCH: unique symbol = Symbol('too much')

/** Returns `TOO_MUCH` if the translation would delay other calls; the thread has a larger budget. */
function atOnce<T>(translate: (meter: Meter) => T): T | typeof TOO_MUCH {
  try {
    return translate(new Meter(SOAP_INLINE_STEPS_MAX))
  } catch (error) {
    if (error instanceof OutOfSteps) return TOO_MUCH
    throw error
  }
}

/** A structured clone copies the whole buffer behind a view, which may be a shared pool. */
function owned(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes)
}
