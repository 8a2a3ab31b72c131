import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/**
 * - `none`: requests and responses pass
 * - `unanswered`: requests reach the chain, and the connection is cut before their responses
 * - `away`: the connection is cut before the chain sees a request
 */
export type ChainFault = 'none' | 'unanswered' | 'away'

/** A proxy on loopback between a chain's JSON-RPC endpoint and its clients. */
export interface ChainProxy {
  readonly url: string
  /** The fault of all requests from now on. */
  fault: ChainFault
  /** True while no log is shown, as by an endpoint whose logs lag behind its state. */
  hidesLogs: boolean
  /** From the first request of this method on, the fault is `unanswered`. Resolves then. */
  unansweredFrom(method: string): Promise<void>
  close(): Promise<void>
}

export async function proxyChain(target: string): Promise<ChainProxy> {
  let trigger: { readonly method: string; readonly met: () => void } | undefined
  const proxy = {
    url: '',
    fault: 'none' as ChainFault,
    hidesLogs: false,
    async unansweredFrom(method: string): Promise<void> {
      const { promise, resolve: met } = Promise.withResolvers<void>()
      trigger = { method, met }
      await promise
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request)
    if (trigger !== undefined && methodsOf(body).includes(trigger.method)) {
      proxy.fault = 'unanswered'
      trigger.met()
      trigger = undefined
    }
    const { fault } = proxy
    if (fault === 'away') return void response.destroy()
    const answer = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const received = Buffer.from(await answer.arrayBuffer())
    const bytes = proxy.hidesLogs ? withoutLogs(body, received) : received
    if (fault === 'unanswered') return void response.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(bytes)
  }
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}

interface Message {
  readonly id: number
  readonly method?: string
}

function messagesOf(body: Buffer): Message[] {
  return [JSON.parse(body.toString()) as Message | Message[]].flat()
}

const methodsOf = (body: Buffer): unknown[] => messagesOf(body).map(({ method }) => method)

function withoutLogs(asked: Buffer, received: Buffer): Buffer {
  const searches = new Set(messagesOf(asked).flatMap(({ id, method }) => (method === 'eth_getLogs' ? [id] : [])))
  const hidden = messagesOf(received).map((each) => (searches.has(each.id) ? { ...each, result: [] } : each))
  return Buffer.from(JSON.stringify(received.toString().startsWith('[') ? hidden : hidden[0]))
}
