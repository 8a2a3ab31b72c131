import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'

/** One of the play APIs of the demo, running. */
export interface DemoServer {
  /** Where it is called. */
  readonly url: string
  close(): Promise<void>
}

export interface DemoOptions {
  /** Default 0: any free one. */
  readonly port?: number
  /** Default `127.0.0.1`. */
  readonly host?: string
}

/** Answers one request of a demo's path; what it throws becomes a plain 500. */
export type DemoHandler = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void>

/** Play APIs take small requests: the bound keeps a mistaken upload out of memory. */
const BODY_BYTES_MAX = 64 * 1024

/** Serves `handler` at `path`, and 404 elsewhere. */
export async function serveDemo(path: string, handler: DemoHandler, options: DemoOptions = {}): Promise<DemoServer> {
  const { port = 0, host = '127.0.0.1' } = options
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '/', 'http://demo')
    if (url?.pathname !== path) {
      sendJson(response, 404, { error: 'not_found', message: `This API lives at ${path}.` })
      return
    }
    handler(request, response, url).catch(() => {
      if (response.headersSent) response.destroy()
      else sendJson(response, 500, { error: 'internal', message: 'The demo failed.' })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { address, family, port: actual } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}${path}`,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    }
  }
}

/** The request's body as text, or undefined when it is too large to be one of ours. */
export async function bodyText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let total = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    total += chunk.byteLength
    if (total > BODY_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

export function sendJson(response: ServerResponse, status: number, body: unknown, type = 'application/json'): void {
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, { 'content-type': type, 'content-length': bytes.byteLength }).end(bytes)
}

/**
 * Runs a demo as a process of its own: `--port N`, one line `{"url":…}` on stdout when it answers, a clean end on SIGINT
 * and SIGTERM.
 */
export async function runAlone(start: (options: DemoOptions) => Promise<DemoServer>): Promise<void> {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '0' }, host: { type: 'string' } } })
  const server = await start({ port: Number(values.port), ...(values.host !== undefined && { host: values.host }) })
  const stop = () => void server.close().then(() => process.exit(0))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  process.once('disconnect', stop)
  console.log(JSON.stringify({ url: server.url }))
}
