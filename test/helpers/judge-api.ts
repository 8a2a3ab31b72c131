import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A small REST API that is no part of Souk: answers at once, or holds its answers until they are let go. */
export interface JudgeApi {
  readonly url: string
  /** The `id` of every POST that reached it, in order. */
  readonly reached: readonly string[]
  /** Answers held at the moment. */
  readonly held: number
  /** From now on answers wait. */
  hold(): void
  /** Lets all waiting answers go, and those that follow. */
  release(): void
  /** Comes back on its port. */
  open(): Promise<void>
  /** Goes away, connections and all. */
  close(): Promise<void>
}

/** Answers `{ id, by: name }` to `{ id }`. */
export async function judgeApi(name: string): Promise<JudgeApi> {
  const reached: string[] = []
  const waiting = new Set<() => void>()
  let isHolding = false

  const answer = (response: ServerResponse, id: string) => {
    const send = () => {
      waiting.delete(send)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id, by: name }))
    }
    if (!isHolding) return send()
    waiting.add(send)
    response.once('close', () => waiting.delete(send))
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      // The check at registration asks without a body.
      const { id = '' } = JSON.parse(Buffer.concat(chunks).toString() || '{}') as { id?: string }
      if (id !== '') reached.push(id)
      answer(response, id)
    })
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}/`,
    reached,
    get held() {
      return waiting.size
    },
    hold: () => void (isHolding = true),
    release() {
      isHolding = false
      for (const send of waiting) send()
    },
    open: () => listen(port),
    async close() {
      if (!server.listening) return
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    }
  }
}
