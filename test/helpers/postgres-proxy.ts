import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { Clock } from '../../lib/base/clock.ts'

/**
 * The fault of the next COMMIT:
 * - `lost`: the connection is cut before the server gets it
 * - `unanswered`: the connection is cut after the server's commit, before the response
 * - `outage`: as `unanswered`, and the outage begins
 * - `racing`: it is forwarded, and the connection is cut at the same time
 * - `swallowed`: nothing is forwarded from then on, and the connection stays open
 * - `silent`: it is forwarded, but no response arrives on the open connection
 * - `late`: as `swallowed`, but `release` forwards it
 */
export type CommitFault = 'lost' | 'unanswered' | 'outage' | 'racing' | 'swallowed' | 'silent' | 'late'

export interface InterruptOptions {
  readonly isCommitted: boolean
  readonly clock: Pick<Clock, 'after'>
  readonly ms: number
}

/** A proxy between PostgreSQL and its clients, on loopback, that parses the messages. */
export interface PostgresProxy {
  /** The URL of the same database through the proxy. */
  through(url: string): string
  /** Resolves when a COMMIT has met the fault. With `text`, only that of a transaction with this text in its values counts. */
  fail(fault: CommitFault, text?: string): Promise<void>
  /** An outage of this duration begins at the COMMIT of the transaction with this text, which the server gets or not. */
  interrupt(text: string, options: InterruptOptions): void
  /** Ends all connections, and accepts none until `release`. */
  outage(): void
  /** Forwards the late COMMITs, and ends the outage. */
  release(): void
  close(): Promise<void>
}

export async function proxyPostgres(url: string): Promise<PostgresProxy> {
  let next: { readonly fault: CommitFault; readonly text: string; readonly met: () => void } | undefined
  const late: Array<() => void> = []
  const listening = await listen((client) => {
    const server = connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true })
    const cut = (): void => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', cut).on('close', cut)
    /** Undefined before the fault. */
    let fault: CommitFault | undefined
    let transaction: Buffer[] = []
    const messages = frontendMessages((message) => {
      if (fault !== undefined) return
      if (isQuery(message, 'BEGIN')) transaction = []
      transaction.push(message)
      if (next !== undefined && isQuery(message, 'COMMIT') && Buffer.concat(transaction).includes(next.text)) {
        const { met } = next
        fault = next.fault
        next = undefined
        met()
        if (fault === 'lost') return cut()
        if (fault === 'late') late.push(() => server.write(message))
        if (fault === 'swallowed' || fault === 'late') return
        server.write(message)
        if (fault === 'racing') client.destroy()
        return
      }
      server.write(message)
    })
    client.on('data', messages)
    server.on('data', (chunk) => {
      if (fault === undefined) client.write(chunk)
      if (fault === 'unanswered') cut()
      if (fault === 'outage') listening.refuse()
    })
  })
  const fail: PostgresProxy['fail'] = (fault, text = '') => {
    const { promise, resolve } = Promise.withResolvers<void>()
    next = { fault, text, met: resolve }
    return promise
  }
  const release = (): void => {
    listening.accept()
    for (const pass of late.splice(0)) pass()
  }
  return {
    through: (to) => throughPort(to, listening.port),
    fail,
    interrupt: (text, { isCommitted, clock, ms }) =>
      void fail(isCommitted ? 'outage' : 'lost', text).then(() => {
        if (!isCommitted) listening.refuse()
        clock.after(ms, release)
      }),
    outage: listening.refuse,
    release,
    close: listening.close
  }
}

/**
 * A pooler in transaction mode, like PgBouncer with `pool_mode = transaction`. Each client adds one server connection. Each
 * transaction uses a free one: the one free for the longest time (`rotate`), or the last freed (`stack`).
 */
export async function poolPostgres(
  url: string,
  order: 'rotate' | 'stack',
  most = Infinity
): Promise<Pick<PostgresProxy, 'through' | 'close'>> {
  const free: Backend[] = []
  const queue: Array<(backend: Backend) => void> = []
  let made = 0
  const put = (backend: Backend): void => {
    backend.client = undefined
    const waiting = queue.shift()
    if (waiting === undefined) free.push(backend)
    else waiting(backend)
  }
  const listening = await listen((client) => {
    let held: Backend | undefined
    const pending: Buffer[] = []
    const own = made++ < most
    const server = connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true })
    const backend: Backend = { server, client }
    let isStarted = false
    client.on('error', () => {})
    server.on('error', () => {})
    const flush = (): void => {
      for (const message of pending.splice(0)) held?.server.write(message)
    }
    client.on(
      'data',
      frontendMessages((message) => {
        if (!isStarted) return void server.write(message)
        if (message[0] === 'X'.charCodeAt(0)) return
        pending.push(message)
        if (held !== undefined) return flush()
        // It is already waiting.
        if (pending.length > 1) return
        const take = (taken: Backend): void => {
          held = taken
          taken.client = client
          taken.onIdle = () => (held = undefined)
          flush()
        }
        const taken = order === 'rotate' ? free.shift() : free.pop()
        if (taken === undefined) queue.push(take)
        else take(taken)
      })
    )
    server.on(
      'data',
      backendMessages((message) => {
        backend.client?.write(message)
        const isIdle = message[0] === 'Z'.charCodeAt(0) && message[5] === 'I'.charCodeAt(0)
        if (!isIdle) return
        if (isStarted) backend.onIdle?.()
        isStarted = true
        if (own) put(backend)
        else if (backend.client === client) server.destroy()
      })
    )
  })
  return { through: (to) => throughPort(to, listening.port), close: listening.close }
}

interface Backend {
  readonly server: Socket
  client: Socket | undefined
  onIdle?: () => void
}

function throughPort(to: string, port: number): string {
  const url = new URL(to)
  url.port = String(port)
  return url.href
}

interface Listening {
  readonly port: number
  /** Ends all connections, and accepts none until `accept`. */
  refuse(): void
  accept(): void
  close(): Promise<void>
}

async function listen(meet: (client: Socket) => void): Promise<Listening> {
  const sockets = new Set<Socket>()
  let refuses = false
  const server: Server = createServer({ noDelay: true }, (socket) => {
    if (refuses) {
      socket.destroy()
      return
    }
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    meet(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const refuse = (): void => {
    refuses = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    refuse,
    accept: () => void (refuses = false),
    async close() {
      refuse()
      server.close()
      await once(server, 'close')
    }
  }
}

/** https://www.postgresql.org/docs/current/protocol-message-formats.html: the first message has no type. */
const frontendMessages = (hear: (message: Buffer) => void) => messages(hear, 0)
const backendMessages = (hear: (message: Buffer) => void) => messages(hear, 1)

function messages(hear: (message: Buffer) => void, typeBytesOfFirst: 0 | 1): (chunk: Buffer) => void {
  let typeBytes: number = typeBytesOfFirst
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= typeBytes + 4) {
      const end = typeBytes + rest.readUInt32BE(typeBytes)
      if (rest.length < end) return
      const message = rest.subarray(0, end)
      rest = rest.subarray(end)
      typeBytes = 1
      hear(message)
    }
  }
}

function isQuery(message: Buffer, sql: string): boolean {
  return message[0] === 'Q'.charCodeAt(0) && message.toString('latin1', 5, message.length - 1).startsWith(sql)
}
