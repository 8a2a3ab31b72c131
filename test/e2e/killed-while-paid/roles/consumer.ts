import { asSoukError, createChain, createChannelTill, createNode, fromHex, keySigner } from '../../../../lib/index.ts'
import type { ErrorCode } from '../../../../lib/base/errors.ts'
import type { ChainParameters } from '../../../../lib/interface/network.ts'
import { play } from '../../../bench/role.ts'
import { identityOf, secretOf } from './identity.ts'
import type { NodeInfo } from './owner.ts'
import { storeAt } from './store.ts'

export interface ConsumerArgs {
  readonly place: string
  readonly bootstrap: readonly string[]
  readonly parameters: ChainParameters
  readonly api: string
}

export interface CallArgs {
  /** Hex of sixteen bytes. */
  readonly id: string
  /** Peer id of the owner it may have been sent to before. */
  readonly sentTo?: string
}

export type CallResult =
  | { readonly status: number; readonly charged: string; readonly echoed: unknown }
  | { readonly code: ErrorCode; readonly detail: string }

/** Far above what the calls of a run cost: what a restart takes for signed, whether it was or not, is not its subject. */
const RULES = { dailyMax: 1_000_000_000n }
const CALL_MS = 20_000

play(async ({ place, bootstrap, parameters, api }: ConsumerArgs) => {
  const store = storeAt(place, () => process.exit(1))
  const signer = keySigner(secretOf('consumer'))
  const node = await createNode({
    network: 'killed',
    privateKey: await identityOf('consumer'),
    bootstrap,
    store,
    till: createChannelTill({ chain: createChain(parameters), signer, rules: RULES })
  })
  await node.start()
  const info: NodeInfo = { peer: node.souk.status().peer, addresses: node.libp2p.getMultiaddrs().map(String) }
  return {
    info,
    operations: {
      async call({ id, sentTo }: CallArgs): Promise<CallResult> {
        try {
          const requestId = fromHex(`0x${id}`, 16)
          const again = sentTo === undefined ? {} : { sentTo }
          const reply = await node.souk.call({ api, body: { id }, requestId, timeoutMs: CALL_MS, ...again })
          return { status: reply.status, charged: reply.charged.toString(), echoed: await reply.json() }
        } catch (error) {
          const { code, message } = asSoukError(error)
          return { code, detail: message }
        }
      }
    },
    stop: () => node.stop()
  }
})
