import assert from 'node:assert/strict'
import protobuf from 'protobufjs'
import * as fc from 'fast-check'
import { fromHex, toHex } from '../../../lib/base/hex.ts'
import type { ChannelConfig } from '../../../lib/interface/channel.ts'
import { decodeAuthorization, encodeAuthorization } from '../../../lib/pay/signing/authorization.ts'
import { keySigner } from '../../../lib/pay/signing/key-signer.ts'
import {
  decodePayReply,
  decodePayRequest,
  encodePayReply,
  encodePayRequest,
  type PayReply,
  type PayRequest
} from '../../../lib/pay/channel/pay-messages.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'
import { mutated } from '../../helpers/mutated.ts'
import { signReceipts } from '../../../lib/pay/signing/receipt.ts'

const address = (byte: string) => `0x${byte.repeat(20)}` as const
const word = (byte: string) => `0x${byte.repeat(32)}` as const
const base64 = (hex: string) => Buffer.from(hex.slice(2), 'hex').toString('base64')
const signature = new Uint8Array(65).fill(9)
const MAX = 2n ** 63n - 1n

const config: ChannelConfig = {
  payer: address('01'),
  payerAuthorizer: address('02'),
  receiver: address('03'),
  receiverAuthorizer: address('04'),
  token: address('05'),
  withdrawDelay: 86_400,
  salt: word('06')
}
const requests: PayRequest[] = [
  { kind: 'terms' },
  { kind: 'state', channelId: word('ab') },
  { kind: 'close', channelId: word('ab') },
  {
    kind: 'deposit',
    deposit: { config, counter: 3n, amount: MAX, validAfter: 0, validBefore: 2 ** 40, salt: 7n, signature }
  }
]
const replies: PayReply[] = [
  { kind: 'terms', terms: { settlement: address('04'), withdrawDelay: 900, depositMin: 500_000n } },
  { kind: 'state', state: { ceiling: MAX, signature, captured: 1n, reserved: 2n } },
  { kind: 'state', state: { ceiling: 0n, signature: new Uint8Array(0), captured: 0n, reserved: 0n } },
  { kind: 'refusal', code: 'payment_rejected', detail: 'No.' }
]

describe('docs/reference/souk-pay.proto', () => {
  let types: protobuf.Root
  before(async () => {
    types = await protobuf.load('docs/reference/souk-pay.proto')
  })
  const read = (type: string, bytes: Uint8Array): unknown => {
    const message = types.lookupType(`souk.${type}`)
    return message.toObject(message.decode(bytes), { longs: String, bytes: String, defaults: false })
  }

  it('describes requests and replies', () => {
    assert.deepEqual(
      requests.map((request) => read('PayRequest', encodePayRequest(request))),
      [
        { terms: {} },
        { state: { channel: base64(word('ab')) } },
        { close: { channel: base64(word('ab')) } },
        {
          deposit: {
            config: {
              payer: base64(config.payer),
              payerAuthorizer: base64(config.payerAuthorizer),
              receiver: base64(config.receiver),
              receiverAuthorizer: base64(config.receiverAuthorizer),
              token: base64(config.token),
              withdrawDelay: '86400',
              salt: base64(config.salt)
            },
            counter: '3',
            amount: MAX.toString(),
            validBefore: (2 ** 40).toString(),
            salt: '7',
            signature: base64(toHex(signature))
          }
        }
      ]
    )
    assert.deepEqual(
      replies.map((reply) => read('PayReply', encodePayReply(reply))),
      [
        { terms: { settlement: base64(address('04')), withdrawDelay: '900', deposit: '500000' } },
        { state: { ceiling: MAX.toString(), signature: base64(toHex(signature)), captured: '1', reserved: '2' } },
        { state: {} },
        { refusal: { code: 'payment_rejected', detail: 'No.' } }
      ]
    )
  })

  it('describes the authorization of a call and a receipt', async () => {
    const authorization = encodeAuthorization({ channelId: word('ab'), ceiling: MAX, signature })
    assert.deepEqual(read('Authorization', authorization), {
      channel: base64(word('ab')),
      ceiling: MAX.toString(),
      signature: base64(toHex(signature))
    })
    const body = {
      channelId: word('ab'),
      requestId: fromHex(`0x${'01'.repeat(16)}`, 16),
      requestHash: fromHex(word('02'), 32),
      api: 'a@b',
      charged: 5n,
      captured: 6n,
      reserved: 7n,
      status: 200,
      at: 8,
      rule: 'cost' as const
    }
    const signer = keySigner(new Uint8Array(32).fill(1))
    const [first, second] = await signReceipts([body, { ...body, at: 9 }], (root) => signer.sign(root))
    const receipt = read('Receipt', second!) as { body: string; path: string[]; index: number }
    assert.equal(receipt.path.length, 1)
    assert.equal(receipt.index, 1)
    assert.notDeepEqual(first, second)
    assert.deepEqual(read('ReceiptBody', Buffer.from(receipt.body, 'base64')), {
      channel: base64(word('ab')),
      requestId: base64(`0x${'01'.repeat(16)}`),
      requestHash: base64(word('02')),
      api: 'a@b',
      charged: '5',
      captured: '6',
      reserved: '7',
      status: 200,
      at: '9',
      rule: 'cost'
    })
  })

  it('is decoded as it was encoded', () => {
    for (const request of requests) assert.deepEqual(decodePayRequest(encodePayRequest(request)), request)
    for (const reply of replies) assert.deepEqual(decodePayReply(encodePayReply(reply)), reply)
    const voucher = { channelId: word('ab'), ceiling: 0n, signature }
    assert.deepEqual(decodeAuthorization(encodeAuthorization(voucher)), voucher)
  })

  it('rejects any other form, only with payment_malformed', () => {
    const reads = [decodePayRequest, decodePayReply, decodeAuthorization]
    const voucher = encodeAuthorization({ channelId: word('ab'), ceiling: 5n, signature })
    const known = [...requests.map(encodePayRequest), ...replies.map(encodePayReply), voucher]
    const nearly = fc.oneof(fc.uint8Array({ maxLength: 200 }), mutated(known))
    for (const decode of reads) {
      fc.assert(
        fc.property(nearly, (bytes) => {
          try {
            decode(bytes)
          } catch (error) {
            assert.equal((error as { code?: string }).code, 'payment_malformed')
          }
        }),
        fuzzRuns(100)
      )
      assert.throws(() => decode(new Uint8Array(0)), { code: 'payment_malformed' })
    }
    const tooLarge = encodeAuthorization({ channelId: word('ab'), ceiling: 2n ** 63n, signature })
    assert.throws(() => decodeAuthorization(tooLarge), { code: 'payment_malformed' })
  })
})
