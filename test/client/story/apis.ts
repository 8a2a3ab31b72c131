import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const OPENAPI = {
  openapi: '3.1.0',
  info: { title: 'Accounts', version: '1' },
  paths: {
    '/accounts/{accountId}/balance': {
      get: {
        operationId: 'getBalance',
        parameters: [{ name: 'accountId', in: 'path', required: true, schema: { type: 'string' } }],
        responses: {
          200: {
            description: 'The balance.',
            content: {
              'application/json': {
                schema: { type: 'object', required: ['balance'], properties: { balance: { type: 'number' } } }
              }
            }
          }
        }
      }
    }
  }
}

/** The upstream of an API with an OpenAPI document, one with streams, and one with files. */
export async function startApis(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const files = new Map<string, Buffer>()
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? '', 'http://a')
    const body = Buffer.concat((await request.toArray()) as Buffer[])
    const [, account] = /^\/accounts\/([^/]+)\/balance$/.exec(pathname) ?? []
    if (account === 'ACC-1001') return json(response, 200, { balance: 1250.5 })
    if (account !== undefined) return json(response, 404, { error: 'no such account' })
    if (pathname.startsWith('/files/') && request.method === 'PUT') {
      files.set(pathname, body)
      return json(response, 201, { bytes: body.length })
    }
    if (pathname.startsWith('/files/')) {
      return response.writeHead(200, { 'content-type': 'image/png' }).end(files.get(pathname))
    }
    const { lines = false } = JSON.parse(body.toString() || '{}') as { lines?: boolean }
    const type = lines ? 'application/x-ndjson' : 'text/event-stream'
    response.writeHead(200, { 'content-type': type })
    for (const n of [1, 2, 3]) response.write(lines ? `{"n":${n}}\n` : `id: ${n}\nevent: tick\ndata: {"n":${n}}\n\n`)
    // The stream of events stays open until its reader leaves.
    if (lines) response.end()
  }
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
