import { join } from 'node:path'
import type { NodeInfo } from '../../node/index.ts'
import type { Origin } from './loopback.ts'
import { Player } from './player.ts'
import type { Reachable } from './roles/overlay-owner.ts'
import type { Subject } from './subject.ts'

/** Each plays in a process of its own. */
const ROLES = {
  upstream: new URL('./roles/upstream.ts', import.meta.url),
  proxy: new URL('./roles/proxy.ts', import.meta.url),
  node: new URL('./roles/node.ts', import.meta.url),
  httpLoad: new URL('./roles/http-load.ts', import.meta.url),
  overlayOwner: new URL('./roles/overlay-owner.ts', import.meta.url),
  overlayLoad: new URL('./roles/overlay-load.ts', import.meta.url),
  framesEcho: new URL('./roles/frames-echo.ts', import.meta.url),
  framesLoad: new URL('./roles/frames-load.ts', import.meta.url)
}
const API = { name: 'bench', price: '0.001' }

/** All processes of the call path suite, running until disposed of. */
export interface CallPeers extends AsyncDisposable {
  readonly subjects: Readonly<Record<'direct' | 'proxy' | 'path' | 'overlay' | 'frames', Subject>>
}

export async function startCallPeers(directory: string): Promise<CallPeers> {
  await using undo = new AsyncDisposableStack()
  const start = async <Info>(role: URL, args?: unknown): Promise<Player<Info>> => {
    const player = await Player.start<Info>(role, args)
    undo.defer(() => player.stop())
    return player
  }

  const upstream = await start<Origin>(ROLES.upstream)
  const proxy = await start<Origin>(ROLES.proxy, upstream.info)
  const owner = await start<NodeInfo>(ROLES.node, {
    directory: join(directory, 'owner'),
    bootstrap: [],
    ingress: false
  })
  await owner.ask('register', { ...API, ...upstream.info })
  const consumer = await start<NodeInfo>(ROLES.node, {
    directory: join(directory, 'consumer'),
    bootstrap: owner.info.p2p,
    ingress: true
  })
  const key = await consumer.ask<string>('issueKey')
  const httpLoad = await start(ROLES.httpLoad)
  const overlayOwner = await start<Reachable>(ROLES.overlayOwner, API)
  const overlayLoad = await start(ROLES.overlayLoad, overlayOwner.info)
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
      title: 'overlay alone: souk.call to code',
      caller: overlayLoad,
      target: { api: API.name },
      servers: [overlayOwner]
    },
    frames: { title: 'raw libp2p: frames echoed', caller: framesLoad, target: {}, servers: [framesEcho] }
  }
  const running = undo.move()
  return { subjects, [Symbol.asyncDispose]: () => running.disposeAsync() }
}
