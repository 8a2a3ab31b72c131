import assert from 'node:assert/strict'
import { computeChannelId } from '@x402/evm/batch-settlement/client'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import * as fc from 'fast-check'
import { hashTypedData, recoverAddress, verifyTypedData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { fromHex, type Hex, toHex } from '../../../../lib/base/hex.ts'
import type { ChannelConfig } from '../../../../lib/interface/channel.ts'
import type { Address } from '../../../../lib/interface/signer.ts'
import { checksummed } from '../../../../lib/pay/signing/address.ts'
import { keySigner } from '../../../../lib/pay/signing/key-signer.ts'
import { settlementDomain } from '../../../../lib/pay/signing/settlement-domain.ts'
import { signDigest, signerOf } from '../../../../lib/pay/signing/signature.ts'
import { tokenDomain } from '../../../../lib/pay/signing/token-domain.ts'
import { isSound, signVoucher } from '../../../../lib/pay/signing/voucher.ts'
import { fuzzRuns } from '../../../helpers/fuzz-runs.ts'

const CONTRACT = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003'
const UINT128_MAX = 2n ** 128n - 1n
const ORDER = secp256k1.Point.Fn.ORDER

const types = {
  Voucher: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'maxClaimableAmount', type: 'uint128' }
  ],
  Refund: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'nonce', type: 'uint256' },
    { name: 'amount', type: 'uint128' }
  ],
  ReceiveWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' }
  ]
} as const

const hex = (length: number): fc.Arbitrary<Hex> => fc.uint8Array({ minLength: length, maxLength: length }).map(toHex)
const address: fc.Arbitrary<Address> = hex(20)
const chainIds = fc.constantFrom(31337, 84532, 8453)
const amounts = fc.bigInt({ min: 0n, max: UINT128_MAX })
const keys = fc.bigInt({ min: 1n, max: ORDER - 1n }).map((n) => fromHex(`0x${n.toString(16).padStart(64, '0')}`, 32))
const configs: fc.Arbitrary<ChannelConfig> = fc.record({
  payer: address,
  payerAuthorizer: address,
  receiver: address,
  receiverAuthorizer: address,
  token: address,
  withdrawDelay: fc.integer({ min: 0, max: 2 ** 40 - 1 }),
  salt: hex(32)
})
const domainOf = (chainId: number) => settlementDomain({ chainId, address: CONTRACT.toLowerCase() as Address })
const viemDomain = (chainId: number) =>
  ({ name: 'x402 Batch Settlement', version: '1', chainId, verifyingContract: CONTRACT }) as const

/** The same signature with a high s: libraries accept it, contracts do not. */
function highTwin(signature: Uint8Array): Uint8Array {
  const s = BigInt(toHex(signature.subarray(32, 64)))
  const twin = Uint8Array.from(signature)
  twin.set(fromHex(`0x${(ORDER - s).toString(16).padStart(64, '0')}`, 32), 32)
  twin[64] = twin[64] === 27 ? 28 : 27
  return twin
}

describe('voucher', () => {
  it('computes a channel id like @x402/evm', () => {
    fc.assert(
      fc.property(configs, chainIds, (config, chainId) => {
        assert.equal(domainOf(chainId).channelId(config), computeChannelId(config, `eip155:${chainId}`).toLowerCase())
      })
    )
  })

  it('hashes vouchers, refunds and authorisations like viem', () => {
    fc.assert(
      fc.property(
        fc.record({ channelId: hex(32), amount: amounts, nonce: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) }),
        chainIds,
        ({ channelId, amount, nonce }, chainId) => {
          const domain = viemDomain(chainId)
          const voucher = { channelId, maxClaimableAmount: amount }
          assert.equal(
            toHex(domainOf(chainId).voucher(channelId, amount)),
            hashTypedData({ domain, types, primaryType: 'Voucher', message: voucher })
          )
          assert.equal(
            toHex(domainOf(chainId).refund(channelId, nonce, amount)),
            hashTypedData({ domain, types, primaryType: 'Refund', message: { channelId, nonce, amount } })
          )
        }
      )
    )
    const usdc = { name: 'USDC', version: '2', chainId: 84532, verifyingContract: CONTRACT.toLowerCase() as Address }
    fc.assert(
      fc.property(
        fc.record({ from: address, to: address, value: amounts, nonce: hex(32) }),
        fc.tuple(fc.nat(), fc.nat()),
        (transfer, [validAfter, validBefore]) => {
          const message = { ...transfer, validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) }
          assert.equal(
            toHex(tokenDomain(usdc).receive({ ...transfer, validAfter, validBefore })),
            hashTypedData({ domain: usdc, types, primaryType: 'ReceiveWithAuthorization', message })
          )
        }
      )
    )
  })

  it("signs so that viem verifies it, under viem's address", async () => {
    await fc.assert(
      fc.asyncProperty(keys, hex(32), amounts, chainIds, async (key, channelId, ceiling, chainId) => {
        const signer = keySigner(key)
        assert.equal(checksummed(signer.address), privateKeyToAccount(toHex(key)).address)
        const voucher = await signVoucher(domainOf(chainId), signer, channelId, ceiling)
        const typed = { types, primaryType: 'Voucher', domain: viemDomain(chainId) } as const
        const message = { channelId, maxClaimableAmount: ceiling }
        const signature = toHex(voucher.signature)
        assert.ok(await verifyTypedData({ ...typed, message, address: signer.address, signature }))
        assert.ok(isSound(domainOf(chainId), voucher, signer.address))
      }),
      { numRuns: 30 }
    )
  })

  it('accepts viem’s signatures', async () => {
    await fc.assert(
      fc.asyncProperty(keys, hex(32), amounts, async (key, channelId, ceiling) => {
        const account = privateKeyToAccount(toHex(key))
        const message = { channelId, maxClaimableAmount: ceiling }
        const typed = { types, primaryType: 'Voucher', domain: viemDomain(8453) } as const
        const signature = fromHex(await account.signTypedData({ ...typed, message }), 65)
        const payer = account.address.toLowerCase() as Address
        assert.ok(isSound(domainOf(8453), { channelId, ceiling, signature }, payer))
      }),
      { numRuns: 30 }
    )
  })

  it('is invalid for another ceiling, channel, chain or payer', async () => {
    const [signer, other] = [keySigner(new Uint8Array(32).fill(1)), keySigner(new Uint8Array(32).fill(2))]
    const channelId: Hex = `0x${'ab'.repeat(32)}`
    const voucher = await signVoucher(domainOf(31337), signer, channelId, 500n)
    const domain = domainOf(31337)
    assert.ok(isSound(domain, voucher, signer.address))
    assert.ok(!isSound(domain, { ...voucher, ceiling: 501n }, signer.address))
    assert.ok(!isSound(domain, { ...voucher, channelId: `0x${'ac'.repeat(32)}` }, signer.address))
    assert.ok(!isSound(domain, voucher, other.address))
    assert.ok(!isSound(domainOf(8453), voucher, signer.address))
  })
})

describe('signature', () => {
  const digests = fc.uint8Array({ minLength: 32, maxLength: 32 })

  it('is rejected in its high-s form, which viem accepts', async () => {
    await fc.assert(
      fc.asyncProperty(keys, digests, async (key, digest) => {
        const signature = signDigest(digest, key)
        const { address } = keySigner(key)
        const twin = highTwin(signature)
        assert.equal(signerOf(digest, signature), address)
        assert.equal((await recoverAddress({ hash: digest, signature: toHex(twin) })).toLowerCase(), address)
        assert.equal(signerOf(digest, twin), undefined)
      }),
      { numRuns: 30 }
    )
  })

  it('is rejected with any v but 27 and 28, and in any length but 65 bytes', () => {
    const [key, digest] = [new Uint8Array(32).fill(9), new Uint8Array(32).fill(5)]
    const signature = signDigest(digest, key)
    for (let v = 0; v < 256; v++) {
      const changed = Uint8Array.from(signature)
      changed[64] = v
      const isOther = signerOf(digest, changed) !== keySigner(key).address
      assert.equal(isOther, v !== signature[64], `v ${v}`)
      if (v !== 27 && v !== 28) assert.equal(signerOf(digest, changed), undefined)
    }
    const compact = Uint8Array.from(signature.subarray(0, 64))
    if (signature[64] === 28) compact[32] = (compact[32] ?? 0) | 0x80
    assert.equal(signerOf(digest, compact), undefined, 'EIP-2098')
    for (const length of [0, 1, 63, 66, 96]) assert.equal(signerOf(digest, new Uint8Array(length)), undefined)
  })

  it('is rejected if r or s is zero or past the order', () => {
    const [key, digest] = [new Uint8Array(32).fill(9), new Uint8Array(32).fill(5)]
    for (const [at, length] of [
      [0, 32],
      [32, 32],
      [0, 64]
    ] as const) {
      for (const byte of [0, 0xff]) {
        const signature = signDigest(digest, key)
        signature.fill(byte, at, at + length)
        assert.equal(signerOf(digest, signature), undefined)
      }
    }
  })

  it('of random bytes yields some signer or none, and never throws', () => {
    fc.assert(
      fc.property(digests, fc.uint8Array({ minLength: 60, maxLength: 70 }), (digest, signature) => {
        const found = signerOf(digest, signature)
        assert.ok(found === undefined || found.length === 42)
      }),
      fuzzRuns(100)
    )
  })
})
