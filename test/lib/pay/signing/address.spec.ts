import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { getAddress } from 'viem'
import { toHex } from '../../../../lib/base/hex.ts'
import { checksummed, parseAddress } from '../../../../lib/pay/signing/address.ts'

describe('address', () => {
  const addresses = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex)

  it('has the checksum of EIP-55', () => {
    fc.assert(fc.property(addresses, (address) => assert.equal(checksummed(address), getAddress(address))))
  })

  it('is accepted in lower case, upper case or with the right checksum', () => {
    fc.assert(
      fc.property(addresses, (address) => {
        assert.equal(parseAddress(address), address)
        assert.equal(parseAddress(checksummed(address)), address)
        assert.equal(parseAddress(`0x${address.slice(2).toUpperCase()}`), address)
      })
    )
  })

  it('is rejected with a wrong checksum or form', () => {
    const right = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
    for (const wrong of [right.replace('fCD6', 'fcD6'), right.slice(0, -1), `${right}0`, right.slice(2), '', '0xzz']) {
      assert.throws(() => parseAddress(wrong), { code: 'invalid_request' }, wrong)
    }
  })
})
