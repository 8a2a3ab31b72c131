import { join } from 'node:path'
import { startMarket } from './market.ts'
import type { Reachable } from './roles/overlay-owner.ts'
import type { Subject } from './subject.ts'

/** Each runs in a separate process. */
const ROLES = {
  upstream: new URL('./roles/upstream.ts', import.meta.url),
  overlayOwner: new URL('./roles/overlay-owner.ts', import.meta.url),
  overlayLoad: new URL('./roles/overlay-load.ts', import.meta.url),
  framesEcho: new URL('./roles/frames-echo.ts', import.meta.url),
  framesLoad: new URL('./roles/frames-load.ts', import.meta.url)
}
/** Large, and within the limit of a listing. */
const BULK_BYTES = 512 * 1024
const API = { name: 'bench', price: '0.001' }

/** All processes of the call path suite, running until disposed of. */
export interface CallPeers extends AsyncDisposable {
  readonly subjects: Readonly<Record<'direct' | 'proxy' | 'path' | 'overlay' | 'overlaySqlite' | 'frames', Subject>>
  /** Large bodies, both ways. */
  readonly bulk: Readonly<Record<'direct' | 'path', Subject>>
}

export async function startCallPeers(directory: string): Promise<CallPeers> {
  await using undo = new AsyncDisposableStack()
  const market = undo.use(await startMarket(directory, ROLES.upstream, API))
  const { upstream, proxy, owner, consumer, key, caller: httpLoad, start } = market
  const overlayOwner = await start<Reachable>(ROLES.overlayOwner, API)
  const overlayLoad = await start(ROLES.overlayLoad, overlayOwner.info)
  const durable = { ...API, path: join(directory, 'overlay.db') }
  const durableOwner = await start<Reachable>(ROLES.overlayOwner, durable)
  const durableLoad = await start(ROLES.overlayLoad, durableOwner.info)
  const framesEcho = await start(ROLES.framesEcho)
  const framesLoad = await start(ROLES.framesLoad, framesEcho.info)

  const http = { path: '/', headers: {} }
  const subjects: CallPeers['subjects'] = {
    direct: {
      title: 'direct: undici to node:http',
      caller: httpLoad,
      target: { ...http, ...upstream.info },
      servers: [upstream]
    },
    proxy: {
      title: 'one-hop proxy: @fastify/http-proxy',
      caller: httpLoad,
      target: { ...http, ...proxy.info },
      servers: [proxy, upstream]
    },
    path: {
      title: 'full path: ingress, overlay, owner, API',
      caller: httpLoad,
      target: {
        origin: consumer.info.ingress,
        path: `/api/demo/api/${API.name}`,
        headers: { 'x-consumer-key': key }
      },
      servers: [consumer, owner, upstream]
    },
    overlay: {
      title: 'overlay alone, books in memory',
      caller: overlayLoad,
      target: { api: API.name },
      servers: [overlayOwner]
    },
    overlaySqlite: {
      title: 'overlay alone, SQLite',
      caller: durableLoad,
      target: { api: API.name },
      servers: [durableOwner]
    },
    frames: { title: 'raw libp2p: frames echoed', caller: framesLoad, target: {}, servers: [framesEcho] }
  }
  const large = JSON.stringify({ text: 'lorem ipsum '.repeat(BULK_BYTES / 12) })
  const bulkOf = (subject: Subject): Subject => ({
    ...subject,
    target: { ...subject.target, body: large, answer: large }
  })
  const bulk = { direct: bulkOf(subjects.direct), path: bulkOf(subjects.path) }
  const running = undo.move()
  return { subjects, bulk, [Symbol.asyncDispose]: () => running.disposeAsync() }
}
