import { connect, type Socket } from 'node:net'
import { quantile } from '../../bench/statistics.ts'
import { play } from '../../bench/role.ts'

export interface Flood {
  readonly port: number
  /** Complete requests; each connection repeats one of them. */
  readonly requests: readonly string[]
  readonly connections: number
  /** Requests per second, spread over the free connections. */
  readonly perSecond: number
  readonly ms: number
}

export interface FloodResult {
  /** Responses with 200, and with 503, per second. */
  readonly admittedPerSecond: number
  readonly refusedPerSecond: number
  /** Other responses, and broken connections. */
  readonly others: number
  readonly broken: number
  /** From a request's last byte to the last byte of its response, on connections with an earlier response. */
  readonly p50AdmittedMs: number
  readonly p99AdmittedMs: number
  readonly medianRefusalMs: number
  readonly p99RefusalMs: number
  /** From dialling to the first response. */
  readonly p99NewConnectionMs: number
  /** Connections without any response. */
  readonly unanswered: number
}

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = Buffer.from('ontent-Length: ')
const EMPTY: Buffer = Buffer.alloc(0)

type OnAnswer = (client: Client, status: number, ms: number, isFirst: boolean) => void

class Client {
  readonly #socket: Socket
  readonly #request: Buffer
  readonly #onAnswer: OnAnswer
  #received = EMPTY
  #sentAt = 0
  #answers = 0
  isFree = false

  constructor(
    port: number,
    request: string,
    onAnswer: OnAnswer,
    onFree: (client: Client) => void,
    onBroken: () => void
  ) {
    this.#request = Buffer.from(request)
    this.#onAnswer = onAnswer
    const dialledAt = performance.now()
    this.#socket = connect(port, '127.0.0.1', () => {
      this.isFree = true
      onFree(this)
    })
    this.#sentAt = dialledAt
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      this.isFree = false
      onBroken()
    })
  }

  get hasAnswer(): boolean {
    return this.#answers > 0
  }

  send(): void {
    this.isFree = false
    // On a new connection, the time counts from dialling.
    if (this.hasAnswer) this.#sentAt = performance.now()
    this.#socket.write(this.#request)
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const end = this.#received.indexOf(HEAD_END)
    if (end < 0) return
    // A regular expression over the whole head would cost the generator as much time as a refusal costs the node.
    const at = this.#received.indexOf(LENGTH)
    const length =
      at < 0 || at > end
        ? 0
        : Number.parseInt(this.#received.toString('latin1', at + LENGTH.length, at + LENGTH.length + 8), 10)
    if (this.#received.length < end + 4 + length) return
    const status = Number.parseInt(this.#received.toString('latin1', 9, 12), 10)
    this.#received = EMPTY
    this.#answers++
    this.isFree = true
    this.#onAnswer(this, status, performance.now() - this.#sentAt, this.#answers === 1)
  }
}

/** Sends this many requests per second on persistent connections, whatever the responses. */
async function run(flood: Flood): Promise<FloodResult> {
  const { port, requests, connections, perSecond, ms } = flood
  const admitted: number[] = []
  const refused: number[] = []
  const first: number[] = []
  let others = 0
  let broken = 0
  let isOver = false
  const free: Client[] = []
  const onAnswer = (client: Client, status: number, took: number, isFirst: boolean) => {
    if (isOver) return
    if (isFirst) first.push(took)
    else if (status === 200) admitted.push(took)
    else if (status === 503) refused.push(took)
    else others++
    free.push(client)
  }
  const clients = Array.from(
    { length: connections },
    (_, at) =>
      new Client(
        port,
        requests[at % requests.length] ?? '',
        onAnswer,
        (client) => free.push(client),
        () => (isOver ? undefined : broken++)
      )
  )
  const startedAt = performance.now()
  let sent = 0
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = performance.now() - startedAt
      if (elapsed >= ms) {
        clearInterval(timer)
        resolve()
        return
      }
      let due = Math.floor((elapsed / 1000) * perSecond) - sent
      sent += due
      for (; due > 0 && free.length > 0; due--) {
        const client = free.shift()
        if (client?.isFree === true) client.send()
      }
    }, 2)
  })
  isOver = true
  const unanswered = clients.filter(({ hasAnswer }) => !hasAnswer).length
  for (const client of clients) client.destroy()
  for (const each of [admitted, refused, first]) each.sort((a, b) => a - b)
  return {
    admittedPerSecond: (admitted.length / ms) * 1000,
    refusedPerSecond: (refused.length / ms) * 1000,
    others,
    broken,
    p50AdmittedMs: quantile(admitted, 0.5),
    p99AdmittedMs: quantile(admitted, 0.99),
    medianRefusalMs: quantile(refused, 0.5),
    p99RefusalMs: quantile(refused, 0.99),
    p99NewConnectionMs: quantile(first, 0.99),
    unanswered
  }
}

play(() => ({ info: {}, operations: { run }, stop: () => {} }))
