import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Upstream {
  readonly url: string
  close(): Promise<void>
}

/** A provider's REST API: echoes the request, or sends three events on request. */
export async function startUpstream(): Promise<Upstream> {
  const server = createServer((request, response) => {
    if (request.headers.accept?.includes('text/event-stream') === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: 1\n\ndata: 2\n\ndata: 3\n\n')
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const isRefused = body.includes('"refuse"')
      response.writeHead(isRefused ? 422 : 200, { 'content-type': 'application/json' })
      response.end(isRefused ? '{"error":"no"}' : `{"echo":${body === '' ? 'null' : body}}`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}
