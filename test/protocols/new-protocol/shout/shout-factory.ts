import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { SoukError } from '../../../../lib/base/errors.ts'
import type {
  Adapter,
  AdapterFactory,
  AdapterRequest,
  ApiDescription,
  UpstreamConfig
} from '../../../../lib/interface/adapter.ts'

const description: ApiDescription = {
  operations: [
    {
      name: 'shout',
      description: 'Gives a line back in capitals.',
      input: { type: 'object', required: ['line'], properties: { line: { type: 'string' } } },
      output: { type: 'object', required: ['line'], properties: { line: { type: 'string' } } }
    }
  ]
}

/** A small real protocol over TCP: a request is one line, and the response ends when the other side closes the connection. */
export const shoutFactory: AdapterFactory = {
  protocol: 'Shout',
  async inspect({ endpoint }, signal) {
    const socket = await dialled(endpoint, signal)
    socket.destroy()
    return { description, snapshot: '', warnings: [] }
  },
  open: ({ endpoint }: UpstreamConfig): Adapter => ({
    protocol: 'Shout',
    description,
    async call(request: AdapterRequest, signal) {
      const { operation, line } = JSON.parse(await bodyOf(request)) as Record<string, unknown>
      if (operation !== 'shout') throw new SoukError('operation_not_found')
      if (typeof line !== 'string') throw new SoukError('invalid_request', '"line" must be a string.')
      const socket = await dialled(endpoint, signal)
      socket.end(`${line}\n`)
      const answer = { line: (await text(socket)).trimEnd() }
      const body = new TextEncoder().encode(JSON.stringify(answer))
      return { status: 200, headers: [['content-type', 'application/json']], body, success: true, upstreamMs: 0 }
    }
  })
}

async function bodyOf({ body }: AdapterRequest): Promise<string> {
  const decoder = new TextDecoder()
  if (body instanceof Uint8Array) return decoder.decode(body)
  let read = ''
  for await (const chunk of body) read += decoder.decode(chunk, { stream: true })
  return read + decoder.decode()
}

async function dialled(endpoint: string, signal: AbortSignal): Promise<Socket> {
  const { hostname, port } = new URL(endpoint)
  const socket = connect({ host: hostname, port: Number(port), signal })
  try {
    await once(socket, 'connect')
  } catch (cause) {
    throw new SoukError('upstream_unreachable', undefined, { cause })
  }
  return socket
}
