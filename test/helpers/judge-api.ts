import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A small REST API outside of Souk. It responds at once, or holds its responses until they are released. */
export interface JudgeApi {
  readonly url: string
  /** The `id` of every received POST, in order. */
  readonly reached: readonly string[]
  /** Number of held responses. */
  readonly held: number
  /** Holds responses from now on. */
  hold(): void
  /** Sends all held responses, and stops holding. */
  release(): void
  /** Reopens the API on its port. */
  open(): Promise<void>
  /** Closes the API with its connections. */
  close(): Promise<void>
}

/** An API that responds with `{ id, by: name }` to `{ id }`. */
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
      // The check at registration sends no body.
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
