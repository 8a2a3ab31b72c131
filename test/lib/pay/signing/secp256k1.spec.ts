import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { type Curve, javascriptCurve, nativeCurve } from '../../../../lib/pay/signing/secp256k1.ts'

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
/** Keys below the group's order. */
const keys = bytes32.filter(([first, ...rest]) => first !== 0xff && rest.some((byte) => byte !== 0))

describe('secp256k1', () => {
  const native = nativeCurve
  /** Both curves, or the JavaScript one twice on a platform without the native library. */
  const curves: Array<[string, Curve]> = [
    ['JavaScript', javascriptCurve],
    ['native', native ?? javascriptCurve]
  ]

  it('makes the same keys and signatures natively and in JavaScript', function () {
    if (native === undefined) this.skip()
    fc.assert(
      fc.property(keys, bytes32, (key, digest) => {
        const publicKey = javascriptCurve.publicKey(key)
        assert.ok(publicKey)
        assert.deepEqual(native.publicKey(key), publicKey)
        const signed = javascriptCurve.sign(digest, key)
        assert.deepEqual(native.sign(digest, key), { ...signed, compact: Uint8Array.from(signed.compact) })
        const recovery = signed.recovery === 0 ? 0 : 1
        assert.deepEqual(native.recover(digest, signed.compact, recovery), publicKey)
        assert.deepEqual(javascriptCurve.recover(digest, signed.compact, recovery), publicKey)
      }),
      { numRuns: 50 }
    )
  })

  it('recovers the same key, or none, of any bytes', function () {
    if (native === undefined) this.skip()
    fc.assert(
      fc.property(bytes32, fc.uint8Array({ minLength: 64, maxLength: 64 }), (digest, compact) => {
        for (const recovery of [0, 1] as const) {
          assert.deepEqual(
            native.recover(digest, compact, recovery),
            javascriptCurve.recover(digest, compact, recovery)
          )
        }
      }),
      { numRuns: 50 }
    )
  })

  for (const [name, curve] of curves) {
    it(`rejects an invalid private key (${name})`, () => {
      assert.equal(curve.publicKey(new Uint8Array(32)), undefined)
      assert.equal(curve.publicKey(new Uint8Array(32).fill(0xff)), undefined)
    })
  }
})
