import { EMPTY_BYTES, text } from '../base/bytes.ts'
import { collect } from '../base/collect.ts'
import { SoukError } from '../base/errors.ts'
import { RESPONSE_BYTES_MAX } from '../base/limits/call.ts'
import { RECEIPT_BYTES_MAX } from '../base/limits/pay.ts'
import { TIME_MS_MAX } from '../base/limits/time.ts'
import type { Atoms } from '../base/money.ts'
import type { CallResponse } from '../interface/call.ts'
import type { Manifest } from '../interface/manifest.ts'
import type { Payload } from '../interface/payload.ts'
import type { CallReply } from '../interface/souk.ts'
import type { Order } from '../interface/payment-scheme.ts'

interface Answered {
  readonly order: Order
  readonly manifest: Manifest
  readonly answer: CallResponse
  readonly charged: Atoms
  readonly lookupMs: number
  readonly payMs: number
  readonly totalMs: number
}

export function callReply({ order, manifest, answer, charged, lookupMs, payMs, totalMs }: Answered): CallReply {
  const { status, headers, body, receipt, payment, eventPrice, replayed, rate, quota, ownerMs, upstreamMs } = answer
  // Owners report their own times. A wrong one must not make ours negative.
  const net = Math.max(0, totalMs - lookupMs - payMs - ownerMs - upstreamMs)
  return {
    requestId: order.requestId,
    id: order.api,
    owner: order.owner,
    status,
    headers,
    body,
    price: order.price,
    charged,
    // No payer accepts a longer one, and clients reject responses with long headers.
    receipt: receipt.length <= RECEIPT_BYTES_MAX ? receipt : EMPTY_BYTES,
    eventPrice,
    payment,
    replayed,
    rate,
    // The owner's numbers. A time that cannot be shown would fail the call after it was paid.
    quota: quota !== undefined && quota.resetsAt <= TIME_MS_MAX ? quota : undefined,
    deprecation: manifest.deprecation,
    timing: { lookup: lookupMs, pay: payMs, net, owner: ownerMs, upstream: upstreamMs },
    json: () => readJson(body)
  }
}

async function readJson(body: Payload): Promise<unknown> {
  const json = text(await collect(body, RESPONSE_BYTES_MAX, () => new SoukError('response_too_large')))
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new SoukError('upstream_invalid_response', 'The response is not JSON.', { cause, source: 'upstream' })
  }
}
