import { join } from 'node:path'
import type { NodeInfo } from '../../node/index.ts'
import type { Origin } from './loopback.ts'
import { Player } from './player.ts'
import type { Registration } from './roles/node.ts'

/** Each runs in a separate process. */
const ROLES = {
  proxy: new URL('./roles/proxy.ts', import.meta.url),
  node: new URL('./roles/node.ts', import.meta.url),
  httpLoad: new URL('./roles/http-load.ts', import.meta.url)
}

/** An API, its owner node, a consumer node, a plain proxy for the same API, and a client. */
export interface Market extends AsyncDisposable {
  readonly upstream: Player<Origin>
  readonly proxy: Player<Origin>
  readonly owner: Player<NodeInfo>
  readonly consumer: Player<NodeInfo>
  readonly caller: Player<unknown>
  /** A consumer's key at the consumer node. */
  readonly key: string
  /** Starts one more process, which ends with the market. */
  start<Info>(role: URL, args?: unknown): Promise<Player<Info>>
}

/** @param api the registration of the API that plays `role` */
export async function startMarket(directory: string, role: URL, api: Omit<Registration, 'origin'>): Promise<Market> {
  await using undo = new AsyncDisposableStack()
  const start = async <Info>(role: URL, args?: unknown): Promise<Player<Info>> => {
    const player = await Player.start<Info>(role, args)
    running.defer(() => player.stop())
    return player
  }
  let running = undo
  const upstream = await start<Origin>(role)
  const proxy = await start<Origin>(ROLES.proxy, upstream.info)
  const owner = await start<NodeInfo>(ROLES.node, {
    directory: join(directory, 'owner'),
    bootstrap: [],
    ingress: false
  })
  await owner.ask('register', { ...api, ...upstream.info })
  const consumer = await start<NodeInfo>(ROLES.node, {
    directory: join(directory, 'consumer'),
    bootstrap: owner.info.p2p,
    ingress: true
  })
  const key = await consumer.ask<string>('issueKey')
  const caller = await start(ROLES.httpLoad)
  running = undo.move()
  const dispose = () => running.disposeAsync()
  return { upstream, proxy, owner, consumer, caller, key, start, [Symbol.asyncDispose]: dispose }
}
