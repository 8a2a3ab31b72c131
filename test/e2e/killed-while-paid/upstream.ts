import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** What the provider's API does with one id. */
export interface Behaviour {
  readonly delayMs: number
  readonly status: number
}

/** The provider's own API, which outlives the nodes and counts. */
export interface CountingUpstream {
  readonly url: string
  /** How often each id reached it. */
  readonly reached: ReadonlyMap<string, number>
  /** Resolves when it has answered so many more calls from now on. */
  answered(more: number): Promise<void>
  close(): Promise<void>
}

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
    request.on('end', () => void answer(Buffer.concat(chunks), response))
  })
  const answer = async (request: Buffer, response: ServerResponse) => {
    const { id } = JSON.parse(request.toString()) as { id: string }
    reached.set(id, (reached.get(id) ?? 0) + 1)
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
