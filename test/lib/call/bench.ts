import { utf8 } from '../../../lib/base/bytes.ts'
import type { SoukError } from '../../../lib/base/errors.ts'
import { CallProtocol, type CallProtocolInit } from '../../../lib/call/call-protocol.ts'
import { decodeFrame, encodeFrame } from '../../../lib/call/frame.ts'
import type { Frame } from '../../../lib/call/frame.ts'
import type { Attempt, Call, CallResponse, CallHandler, IncomingCall } from '../../../lib/interface/call.ts'
import type { Channel, Link } from '../../../lib/interface/link.ts'
import { createMemoryNetwork, type MemoryNetwork } from '../../../lib/link/memory-link.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { manualClock, type ManualClock } from '../../helpers/manual-clock.ts'

export const OWNER = peerId('A')
export const CONSUMER = peerId('C')
export const NEVER = new AbortController().signal

export const responseOf = (
  body: CallResponse['body'] | string = '{}',
  changes: Partial<CallResponse> = {}
): CallResponse => ({
  status: 200,
  headers: [['content-type', 'application/json']],
  body: typeof body === 'string' ? utf8(body) : body,
  charged: 0n,
  receipt: new Uint8Array(0),
  ownerMs: 1,
  upstreamMs: 2,
  ...changes
})

export const callOf = (changes: Partial<Call> = {}): Call => ({
  requestId: freshIds.next(),
  api: `ticker@${peerId('P')}`,
  method: 'POST',
  path: '',
  headers: [['content-type', 'application/json']],
  body: utf8('{"symbol":"BTC"}'),
  timeoutMs: 10_000,
  revision: 3,
  ...changes
})

/** A node's call protocol with a replaceable handler. Records the received calls. */
export interface CallNode {
  readonly calls: CallProtocol
  readonly link: Link
  readonly received: IncomingCall[]
  readonly acked: Uint8Array[][]
  handler: CallHandler
}

export interface CallBench {
  readonly clock: ManualClock
  readonly network: MemoryNetwork
  readonly owner: CallNode
  readonly consumer: CallNode
  /** From the consumer to the owner. */
  call(changes?: Partial<Call>, signal?: AbortSignal): Promise<Attempt>
  /** Another process with the owner's id and a later epoch. */
  restartOwner(): Promise<CallNode>
}

export async function callBench(changes: Partial<CallProtocolInit> = {}): Promise<CallBench> {
  const clock = manualClock()
  const network = createMemoryNetwork({ clock })
  let epoch = 100n
  const nodeOf = async (id: string): Promise<CallNode> => {
    const link = network.link(id)
    const received: IncomingCall[] = []
    const acked: Uint8Array[][] = []
    const calls = new CallProtocol({
      link,
      clock,
      network: 'dev',
      epoch: epoch++,
      agent: 'test',
      handler: (call, signal) => {
        received.push(call)
        return node.handler(call, signal)
      },
      onAck: (_peer, requestIds) => acked.push([...requestIds]),
      ...changes
    })
    const node: CallNode = { calls, link, received, acked, handler: async () => responseOf() }
    await link.start()
    return node
  }
  const [owner, consumer] = [await nodeOf(OWNER), await nodeOf(CONSUMER)]
  return {
    clock,
    network,
    owner,
    consumer,
    call: (callChanges, signal) => consumer.calls.call({ id: OWNER, addresses: [] }, callOf(callChanges), signal),
    restartOwner: () => nodeOf(OWNER)
  }
}

/** A peer that sends the frames that the test chooses. */
export interface RawPeer {
  readonly channel: Channel
  /** Received frames, decoded. */
  readonly heard: Frame[]
  readonly closes: Array<Error | undefined>
  send(frame: Frame): void
}

export const HELLO: Frame = { kind: 'hello', network: 'dev', epoch: 7n, agent: 'raw', inFlightMax: 1_024 }

/** Connects to a peer of the bench with a separate link. */
export async function rawPeer(network: MemoryNetwork, to: string, id = peerId('R')): Promise<RawPeer & { link: Link }> {
  const link = network.link(id)
  await link.start()
  const heard: Frame[] = []
  const closes: Array<Error | undefined> = []
  link.onChannel = (channel) => {
    channel.onFrame = (bytes) => {
      const frame = decodeFrame(bytes)
      if (frame !== undefined) heard.push(frame)
    }
    channel.onClose = (error) => closes.push(error)
  }
  const channel = await link.connect({ id: to, addresses: [] }, NEVER)
  return { link, channel, heard, closes, send: (frame) => channel.send(encodeFrame(frame)) }
}

export const requestFrame = (changes: Partial<Extract<Frame, { kind: 'request' }>> = {}): Frame => ({
  kind: 'request',
  id: 1,
  requestId: freshIds.next(),
  api: `ticker@${peerId('P')}`,
  method: 'POST',
  path: '',
  headers: [],
  body: utf8('{}'),
  timeoutMs: 1_000,
  revision: 1,
  maxPrice: undefined,
  authorization: undefined,
  idempotencyKey: undefined,
  traceparent: undefined,
  resentFromEpoch: undefined,
  keyFirstAt: 0,
  keyAnswered: false,
  payment: undefined,
  consumer: undefined,
  service: 0,
  subscription: undefined,
  stream: undefined,
  events: 0,
  ...changes
})

export function answered(attempt: Attempt): CallResponse {
  if (attempt.fate !== 'answered') throw attempt.error
  return attempt.answer
}

export function errorOf(attempt: Attempt): SoukError {
  if (attempt.fate === 'answered') throw new Error('the call was answered')
  return attempt.error
}
