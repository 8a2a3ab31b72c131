import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** How the provider's API responds to one id. */
export interface Behaviour {
  readonly delayMs: number
  readonly status: number
}

/** The provider's API, which is never killed and counts its calls. */
export interface CountingUpstream {
  readonly url: string
  /** Responds to each call with a stream of events, numbered from 1. */
  readonly ticksUrl: string
  /** True: streams run. False: ends all streams, and each later one at once. */
  tick(isOn: boolean): void
  /** The number of received calls by id. */
  readonly reached: ReadonlyMap<string, number>
  /** Resolves after `more` further responses. */
  answered(more: number): Promise<void>
  close(): Promise<void>
}

const TICKS = '/ticks'
const TICK_MS = 5

export async function countingUpstream(behaviour: (id: string) => Behaviour): Promise<CountingUpstream> {
  const reached = new Map<string, number>()
  let answers = 0
  const waiting = new Set<{ readonly until: number; readonly resolve: () => void }>()
  const tell = () => {
    for (const waiter of waiting) {
      if (waiter.until > answers) continue
      waiting.delete(waiter)
      waiter.resolve()
    }
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => void answer(Buffer.concat(chunks), response, request.url === TICKS))
  })
  let isTicking = true
  const streams = new Set<ServerResponse>()
  const stream = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    let ticks = 0
    const timer = setInterval(() => response.writable && response.write(`data: ${++ticks}\n\n`), TICK_MS)
    streams.add(response)
    response.once('close', () => {
      clearInterval(timer)
      streams.delete(response)
    })
    if (!isTicking) response.end()
  }
  const answer = async (request: Buffer, response: ServerResponse, isStream: boolean) => {
    const { id } = JSON.parse(request.toString()) as { id: string }
    reached.set(id, (reached.get(id) ?? 0) + 1)
    if (isStream) return stream(response)
    const { delayMs, status } = behaviour(id)
    await pause(delayMs)
    const body = JSON.stringify({ id })
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
    answers++
    tell()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    ticksUrl: `http://127.0.0.1:${port}${TICKS}`,
    tick(isOn) {
      isTicking = isOn
      if (!isOn) for (const response of streams) response.end()
    },
    reached,
    answered: (more) =>
      new Promise((resolve) => {
        waiting.add({ until: answers + more, resolve })
        tell()
      }),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    }
  }
}
