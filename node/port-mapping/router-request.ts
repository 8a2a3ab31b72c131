import { type IncomingMessage, request } from 'node:http'
import { limits } from '../../lib/index.ts'

export interface RouterResponse {
  readonly status: number
  readonly text: string
  /** This node's address towards the router. */
  readonly localAddress: string
}

/**
 * One HTTP request to a router, whose answers are untrusted: no redirects, and at most `ROUTER_DOCUMENT_BYTES_MAX`.
 * @throws Error
 */
export function askRouter(
  url: URL,
  signal: AbortSignal,
  post?: { readonly action: string; readonly body: string }
): Promise<RouterResponse> {
  const headers = { 'content-type': 'text/xml; charset="utf-8"', soapaction: `"${post?.action}"` }
  return new Promise((resolve, reject) => {
    const options = post === undefined ? { signal } : { signal, method: 'POST', headers }
    const sent = request(url, { ...options, agent: false }, (response) => {
      const localAddress = response.socket.localAddress ?? ''
      textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text, localAddress }), reject)
    })
    sent.on('error', reject)
    sent.end(post?.body)
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limits.ROUTER_DOCUMENT_BYTES_MAX) throw new Error('the response of the router is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
