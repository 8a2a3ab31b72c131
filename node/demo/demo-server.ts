import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { SetupError } from '../setup-error.ts'

/** A running sample API of the demo. */
export interface DemoServer {
  /** URL to call. */
  readonly url: string
  close(): Promise<void>
}

export interface DemoOptions {
  /** Default 0: any free port. */
  readonly port?: number
  /** Default `127.0.0.1`. */
  readonly host?: string
}

/** Handles a request to the demo’s path. If it throws, the client gets a 500. */
export type DemoHandler = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void>

/** Sample APIs take small requests. The limit keeps accidental uploads out of memory. */
const BODY_BYTES_MAX = 64 * 1024

/** Serves `handler` at `path`, and 404 on all other paths. */
export async function serveDemo(path: string, handler: DemoHandler, options: DemoOptions = {}): Promise<DemoServer> {
  const { port = 0, host = '127.0.0.1' } = options
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '/', 'http://demo')
    if (url?.pathname !== path) {
      sendJson(response, 404, { error: 'not_found', message: `This API is at ${path}.` })
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

/** The request body as text; undefined if it is too large. */
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
 * Runs a demo server as its own process. Accepts `--port N` and `--state FILE`, prints one line `{"url":…}` on stdout when ready, and exits cleanly on SIGINT
 * and SIGTERM.
 */
export async function runAlone(
  start: (options: DemoOptions & { stateFile?: string }) => Promise<DemoServer>
): Promise<void> {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '0' }, host: { type: 'string' }, state: { type: 'string' } }
  })
  const server = await start({
    port: Number(values.port),
    ...(values.host !== undefined && { host: values.host }),
    ...(values.state !== undefined && { stateFile: values.state })
  }).catch(exit)
  const stop = () => void server.close().then(() => process.exit(0))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  process.once('disconnect', stop)
  console.log(JSON.stringify({ url: server.url }))
}

/** The process that started this one shows the text to its user. */
function exit(error: unknown): never {
  if (!(error instanceof SetupError)) throw error
  const why = error.cause instanceof Error ? ` ${error.cause.message}` : ''
  console.error(`${error.message}${why}${error.hint === undefined ? '' : `\nTry: ${error.hint}`}`)
  process.exit(1)
}
