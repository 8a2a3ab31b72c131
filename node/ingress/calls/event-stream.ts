import type { ServerResponse } from 'node:http'
import { limits, utf8 } from '../../../lib/index.ts'
import type { Clock } from '../../../lib/interface/index.ts'
import { sseResults } from '../../../protocols/graphql/sse-results.ts'
import { UNBUFFERED } from '../../http/unbuffered.ts'
import type { RequestContext } from '../request-context.ts'

type Results = ReturnType<typeof sseResults>

/** One operation of a stream. After it was stopped, another one may have its id. */
export interface Operation {
  readonly id: string
  /** Undefined until the API responds. */
  results?: Results
}

export interface EventStreamInit {
  readonly clock: Clock
  /** Id of the key that reserved the stream. */
  readonly holder: string
  readonly onOver: () => void
}

/**
 * One event stream for many operations ("single connection mode" of GraphQL over SSE). The stream pulls results from an API only as fast as
 * the client reads. A slow or unconnected client pauses its operations and fills no memory.
 */
export class EventStream {
  readonly holder: string
  readonly #init: EventStreamInit
  readonly #operations = new Map<string, Operation>()
  readonly #opened = Promise.withResolvers<void>()
  #res: ServerResponse | undefined
  #isOver = false

  constructor(init: EventStreamInit) {
    this.#init = init
    this.holder = init.holder
    // Close a reserved stream that no client opens in time.
    init.clock.after(limits.EVENT_STREAM_RESERVED_MS, () => {
      if (this.#res === undefined) this.close()
    })
  }

  get isOpen(): boolean {
    return this.#res !== undefined
  }

  /** Responds to the request that reads the stream. */
  open({ res, headers }: RequestContext): void {
    // The client left while the scope was looked up. `close` does not come again, and the client may open it later.
    if (res.destroyed) return
    this.#res = res
    const head = ['Content-Type', 'text/event-stream; charset=utf-8', 'Cache-Control', 'no-cache']
    res.writeHead(200, [...headers, ...head, ...UNBUFFERED]).write(COMMENT)
    res.once('close', () => this.close())
    this.#opened.resolve()
    this.#beat()
  }

  /** Reserves an operation id. Undefined if the id is in use or there are too many operations. */
  reserve(id: string): Operation | undefined {
    if (this.#operations.has(id) || this.#operations.size >= limits.EVENT_STREAM_OPERATIONS_MAX) return undefined
    const operation = { id }
    this.#operations.set(id, operation)
    return operation
  }

  /** Frees the id of an operation that the API refused. */
  forget(operation: Operation): void {
    if (operation.results === undefined) this.#end(operation)
  }

  /** Sends the results of a reserved operation, unless it was stopped meanwhile. */
  follow(operation: Operation, body: AsyncIterable<Uint8Array>): void {
    const results = sseResults(body)
    if (!this.#isRunning(operation) || this.#isOver) return void results.return?.().catch(() => undefined)
    operation.results = results
    void this.#pump(operation, results).finally(() => this.#end(operation))
  }

  /** Stops an operation, also at its API. */
  stop(id: string): void {
    const results = this.#operations.get(id)?.results
    this.#operations.delete(id)
    void results?.return?.().catch(() => undefined)
  }

  #isRunning(operation: Operation): boolean {
    return this.#operations.get(operation.id) === operation
  }

  #end(operation: Operation): void {
    if (this.#isRunning(operation)) this.#operations.delete(operation.id)
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#opened.resolve()
    for (const id of this.#operations.keys()) this.stop(id)
    this.#res?.end()
    this.#init.onOver()
  }

  async #pump(operation: Operation, results: Results): Promise<void> {
    await this.#opened.promise
    const name = JSON.stringify(operation.id)
    try {
      for (let next = await results.next(); next.done !== true; next = await results.next()) {
        await this.#send(operation, 'next', `{"id":${name},"payload":${next.value.replaceAll('\n', ' ')}}`)
      }
    } catch {
      // The API or its provider broke off, and no more detail is known.
      const error = '{"errors":[{"message":"The API ended the operation early."}]}'
      await this.#send(operation, 'next', `{"id":${name},"payload":${error}}`)
    }
    await this.#send(operation, 'complete', `{"id":${name}}`)
  }

  async #send(operation: Operation, event: string, data: string): Promise<void> {
    const res = this.#res
    if (res === undefined || this.#isOver || !this.#isRunning(operation)) return
    if (res.write(`event: ${event}\ndata: ${data}\n\n`)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const stalled = this.#init.clock.after(limits.STREAM_IDLE_MS, () => res.destroy())
    res.once('drain', resolve).once('close', resolve)
    await promise
    res.off('drain', resolve).off('close', resolve)
    stalled.cancel()
  }

  #beat(): void {
    this.#init.clock.after(limits.EVENTS_HEARTBEAT_MS, () => {
      if (this.#isOver) return
      if (this.#res?.writableNeedDrain === false) this.#res.write(COMMENT)
      this.#beat()
    })
  }
}

/** An SSE comment. Clients ignore it; it keeps proxies and browsers from timing out. */
const COMMENT = utf8(':\n\n')
