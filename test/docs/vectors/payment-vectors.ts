import { toHex } from '../../../lib/base/hex.ts'
import type { ChannelConfig } from '../../../lib/interface/channel.ts'
import { depositNonce } from '../../../lib/pay/chain/settlement-calls.ts'
import { splitterFactory } from '../../../lib/pay/chain/splitter.ts'
import {
  encodePayReply,
  encodePayRequest,
  type PayReply,
  type PayRequest
} from '../../../lib/pay/channel/pay-messages.ts'
import { encodeAuthorization } from '../../../lib/pay/signing/authorization.ts'
import { channelSalt } from '../../../lib/pay/signing/channel-salt.ts'
import { type ReceiptBody, readReceipt, receiptDigests, signReceipts } from '../../../lib/pay/signing/receipt.ts'
import { settlementDomain } from '../../../lib/pay/signing/settlement-domain.ts'
import { tokenDomain } from '../../../lib/pay/signing/token-domain.ts'
import { signVoucher } from '../../../lib/pay/signing/voucher.ts'
import { requestHash } from '../../../lib/base/request-hash.ts'
import { frames, type MessageVector } from './frames.ts'
import { bytesOf, CHAIN, hex, identityOf, NOW, PAYER, PAYOUT, REQUEST_ID, SETTLEMENT, TREASURY } from './keys.ts'

const COUNTER = 1n
const DEPOSIT = { amount: 500_000n, validAfter: 0, validBefore: NOW / 1_000 + 3_600, salt: 1n }
const CEILING = 10_000n

export const DOMAIN = settlementDomain({ chainId: CHAIN.chainId, address: CHAIN.settlement.address })
const TOKEN = tokenDomain({ ...CHAIN.usdc, chainId: CHAIN.chainId, verifyingContract: CHAIN.usdc.address })
const FACTORY = splitterFactory(TREASURY)

export async function configOfVectors(): Promise<ChannelConfig> {
  const { id } = await identityOf(3)
  return {
    payer: PAYER.signer.address,
    payerAuthorizer: PAYER.signer.address,
    receiver: FACTORY.splitterOf(PAYOUT),
    receiverAuthorizer: SETTLEMENT.signer.address,
    token: CHAIN.usdc.address,
    withdrawDelay: 86_400,
    salt: channelSalt(id.toString(), COUNTER)
  }
}

export function splitterVectors() {
  const { address: factory, template } = FACTORY
  const payouts = [PAYOUT, PAYER.signer.address]
  return payouts.map((payout) => ({
    treasury: TREASURY,
    payout,
    factory,
    template,
    splitter: FACTORY.splitterOf(payout)
  }))
}

/** A channel from its parts to a signed voucher, and the deposit that opens it. */
export async function channelVectors() {
  const config = await configOfVectors()
  const { id } = await identityOf(3)
  const channelId = DOMAIN.channelId(config)
  const voucher = await signVoucher(DOMAIN, PAYER.signer, channelId, CEILING)
  const nonce = depositNonce(channelId, DEPOSIT.salt)
  const { amount: value, validAfter, validBefore } = DEPOSIT
  const digest = TOKEN.receive({
    from: config.payer,
    to: CHAIN.collector.address,
    value,
    validAfter,
    validBefore,
    nonce
  })
  const common = { chain_id: CHAIN.chainId, payer_secret: hex(PAYER.secret), peer_id: id.toString() }
  return [
    {
      name: 'channel',
      ...common,
      counter: `${COUNTER}`,
      salt: config.salt,
      config,
      verifying_contract: CHAIN.settlement.address,
      channel_id: channelId
    },
    {
      name: 'voucher',
      ...common,
      channel_id: channelId,
      ceiling: `${CEILING}`,
      digest: toHex(DOMAIN.voucher(channelId, CEILING)),
      signature: toHex(voucher.signature)
    },
    {
      name: 'deposit',
      ...common,
      channel_id: channelId,
      amount: `${value}`,
      valid_after: validAfter,
      valid_before: validBefore,
      salt: `${DEPOSIT.salt}`,
      collector: CHAIN.collector.address,
      token: CHAIN.usdc,
      nonce,
      digest: toHex(digest),
      signature: toHex(await PAYER.signer.sign(digest))
    }
  ] as const
}

/** Messages of `/souk/pay/1.0.0`. */
export async function payMessages(): Promise<{
  requests: Readonly<Record<string, PayRequest>>
  replies: Readonly<Record<string, PayReply>>
}> {
  const [channel, voucher, deposit] = await channelVectors()
  const channelId = DOMAIN.channelId(await configOfVectors())
  const state = { ceiling: CEILING, signature: bytesOf(voucher.signature), captured: 9_000n, reserved: 1_000n }
  const [receipt = new Uint8Array(0)] = await signReceipts(await receiptBodies(), (root) =>
    SETTLEMENT.signer.sign(receiptDigests(CHAIN)(root))
  )
  const request = {
    config: await configOfVectors(),
    counter: BigInt(channel.counter),
    ...DEPOSIT,
    signature: bytesOf(deposit.signature)
  }
  return {
    requests: {
      'terms request': { kind: 'terms' },
      'deposit request, answered when it is mined': { kind: 'deposit', deposit: request },
      'deposit request': { kind: 'deposit', deposit: { ...request, isEarly: true } },
      'state request': { kind: 'state', channelId },
      'close request': { kind: 'close', channelId },
      'receipt request': { kind: 'receipt', receipt: { channelId, requestId: REQUEST_ID, dispute: '' } },
      'receipt request of a disputed charge': {
        kind: 'receipt',
        receipt: { channelId, requestId: REQUEST_ID, dispute: 'missing' }
      }
    },
    replies: {
      terms: {
        kind: 'terms',
        terms: { settlement: SETTLEMENT.signer.address, withdrawDelay: 86_400, depositMin: 500_000n }
      },
      state: { kind: 'state', state },
      'state without a voucher': {
        kind: 'state',
        state: { ceiling: 0n, signature: new Uint8Array(0), captured: 0n, reserved: 0n }
      },
      'state on credit': { kind: 'state', state, credit: 10_000n },
      'refusal, no time to wait': { kind: 'refusal', code: 'payment_rejected', detail: '' },
      receipt: { kind: 'receipt', receipt },
      refusal: { kind: 'refusal', code: 'settlement_pending', detail: 'The deposit is not mined yet.', retryAfterMs: 1 }
    }
  }
}

export async function payVectors(): Promise<readonly MessageVector[]> {
  const { requests, replies } = await payMessages()
  const channelId = DOMAIN.channelId(await configOfVectors())
  const authorization = encodeAuthorization(await signVoucher(DOMAIN, PAYER.signer, channelId, CEILING))
  return [
    { name: 'authorization of a call', message: 'souk.Authorization', bytes: hex(authorization) },
    ...Object.entries(requests).map(([name, request]) => ({
      name,
      message: 'souk.PayRequest',
      bytes: hex(encodePayRequest(request))
    })),
    ...Object.entries(replies).map(([name, reply]) => ({
      name,
      message: 'souk.PayReply',
      bytes: hex(encodePayReply(reply))
    }))
  ]
}

/** Three calls of one commit: a tree with an odd number of leaves. */
export async function receiptBodies(): Promise<readonly ReceiptBody[]> {
  const { peer, hashes } = await requestHashes()
  const channelId = DOMAIN.channelId(await configOfVectors())
  return [0, 1, 2].map((n) => ({
    channelId,
    requestId: Uint8Array.from([...REQUEST_ID.subarray(0, 15), n + 1]),
    requestHash: hashes[n] ?? REQUEST_ID,
    api: `ticker@${peer}`,
    charged: n === 2 ? 0n : 1_000n,
    captured: BigInt(Math.min(n + 1, 2)) * 1_000n,
    reserved: 0n,
    status: n === 2 ? 404 : 200,
    at: NOW + n,
    ...(n === 2 ? {} : { rule: 'success' as const })
  }))
}

async function requestHashes() {
  const { id } = await identityOf(1)
  const vectors = await requestHashVectors()
  return { peer: id.toString(), hashes: vectors.map(({ sha256 }) => bytesOf(sha256)) }
}

/** The request hash of each request in `frames.json` that has a body in its frame. */
export async function requestHashVectors() {
  return Object.entries(await frames()).flatMap(([name, frame]) => {
    if (frame.kind !== 'request') return []
    const { api, requestId, method, path, headers, body, timeoutMs, revision, stream, events, subscription } = frame
    const call = {
      peer: '',
      requestId,
      api: api as `${string}@${string}`,
      method,
      path,
      headers,
      body: body ?? noBody(),
      timeoutMs,
      revision,
      events,
      ...(stream === undefined ? {} : { stream }),
      ...(subscription === undefined ? {} : { subscription }),
      ...(frame.service === 1 ? { service: 1 as const } : {})
    }
    return [{ name, sha256: hex(requestHash(call)) }]
  })
}

/** A body on a bulk stream is not part of the hash. */
async function* noBody(): AsyncGenerator<Uint8Array> {}

export async function receiptVectors() {
  const bodies = await receiptBodies()
  const digestOf = receiptDigests(CHAIN)
  let root: Uint8Array = new Uint8Array(0)
  const receipts = await signReceipts(bodies, (of) => {
    root = of
    return SETTLEMENT.signer.sign(digestOf(of))
  })
  return receipts.map((bytes, i) => ({
    name: `call ${i + 1} of ${receipts.length}`,
    signer: SETTLEMENT.signer.address,
    root: hex(root),
    digest: hex(digestOf(root)),
    message: 'souk.Receipt',
    bytes: hex(bytes),
    body_message: 'souk.ReceiptBody',
    body: hex(readReceipt(bytes)?.leaf ?? new Uint8Array(0))
  }))
}
