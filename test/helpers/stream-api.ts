import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The progress of one response of the stream API. */
export interface Sending {
  readonly response: ServerResponse
  /** Bytes that the socket accepted. */
  bytes: number
  /** The end of the connection, by `performance.now()`. */
  closedAt: number | undefined
}

/** A REST API with slow responses: single events, and bodies of any requested size. */
export interface StreamApi {
  readonly url: string
  /** Streamed responses, in the order of their requests. */
  readonly sendings: readonly Sending[]
  /** Sends an event on an open stream. */
  emit(index: number, data: string): void
  close(): Promise<void>
}

const CHUNK_BYTES = 256 * 1024
const CHUNK = Buffer.from(Array.from({ length: CHUNK_BYTES }, (_, at) => (at * 31 + (at >> 8)) & 0xff))

/** SHA-256 of the response body to `{ bytes }`. */
export function hashOfBytes(bytes: number): string {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes; at += CHUNK_BYTES) hash.update(chunkAt(at, bytes))
  return hash.digest('hex')
}

/** All chunks differ, so that a lost, repeated or misplaced one is detected. */
function chunkAt(at: number, bytes: number): Buffer {
  const chunk = Buffer.from(CHUNK.subarray(0, Math.min(CHUNK_BYTES, bytes - at)))
  chunk.writeUInt32BE(at / CHUNK_BYTES)
  return chunk
}

/**
 * `{ "events": true }` opens an event stream, `{ "bytes": n }` sends n bytes; the response to anything else is `{ "ok": true }`.
 */
export async function streamApi(): Promise<StreamApi> {
  const sendings: Sending[] = []

  const open = (response: ServerResponse): Sending => {
    const sending: Sending = { response, bytes: 0, closedAt: undefined }
    response.once('close', () => (sending.closedAt = performance.now()))
    sendings.push(sending)
    return sending
  }
  const answer = async (response: ServerResponse, asked: { events?: true; bytes?: number }) => {
    if (asked.events === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      open(response)
    } else if (asked.bytes !== undefined) {
      response.writeHead(200, { 'content-type': 'application/octet-stream' })
      await send(open(response), asked.bytes)
    } else {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
    }
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => void answer(response, JSON.parse(Buffer.concat(chunks).toString() || '{}') as object))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    sendings,
    emit: (index, data) => void sendings[index]?.response.write(`data: ${data}\n\n`),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    }
  }
}

async function send(sending: Sending, bytes: number): Promise<void> {
  const { response } = sending
  for (let at = 0; at < bytes && !response.destroyed; at += CHUNK_BYTES) {
    const chunk = chunkAt(at, bytes)
    if (!response.write(chunk)) await writable(response)
    sending.bytes += chunk.length
  }
  response.end()
}

/** Resolves when the reader has continued or disconnected. */
function writable(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go)
      resolve()
    }
    response.on('drain', go).on('close', go)
  })
}
