import { appendFileSync } from 'node:fs'
import { asSoukError, createNode, fromHex, keySigner } from '../../../../lib/index.ts'
import { createChain, createChannelScheme } from '../../../../lib/pay/index.ts'
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
  /** Request id: 16 bytes in hex. */
  readonly id: string
  /** Peer id of the owner that may have received the call before. */
  readonly sentTo?: string
}

export interface StreamArgs {
  /** Request id of the call that opens the stream. */
  readonly id: string
  readonly api: string
  /** Path of a file with a line `<id> <event>` per read event. The test reads it after this process was killed. */
  readonly diary: string
}

/** The result of the opening call. The diary has the events that were read. */
export type StreamResult = { readonly charged: string } | { readonly code: ErrorCode }

export type CallResult =
  | { readonly status: number; readonly charged: string; readonly echoed: unknown }
  | { readonly code: ErrorCode; readonly detail: string }

/** A cap far above the cost of a run, and deposits large beside their gas, which an owner pays only for channels that earn it. */
const RULES = { dailyMax: 1_000_000_000_000n, deposit: 2_000_000n }
const CALL_MS = 20_000
const EVENTS = [
  ['content-type', 'application/json'],
  ['accept', 'text/event-stream']
] as const

async function readInto(diary: string, id: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) if (event.startsWith('data: ')) appendFileSync(diary, `${id} ${event.slice(6)}\n`)
  }
}

play(async ({ place, bootstrap, parameters, api }: ConsumerArgs) => {
  const store = storeAt(place, () => process.exit(1))
  const signer = keySigner(secretOf('consumer'))
  const node = await createNode({
    network: 'killed',
    privateKey: await identityOf('consumer'),
    bootstrap,
    store,
    paymentScheme: createChannelScheme({ chain: createChain(parameters), signer, rules: RULES })
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
      },

      /** Resolves when the stream has ended, for any reason. */
      async stream({ id, api, diary }: StreamArgs): Promise<StreamResult> {
        try {
          const requestId = fromHex(`0x${id}`, 16)
          const reply = await node.souk.call({ api, body: { id }, requestId, headers: EVENTS, timeoutMs: CALL_MS })
          await readInto(diary, id, reply.body as AsyncIterable<Uint8Array>).catch(() => {})
          return { charged: reply.charged.toString() }
        } catch (error) {
          return { code: asSoukError(error).code }
        }
      }
    },
    stop: () => node.stop()
  }
})
