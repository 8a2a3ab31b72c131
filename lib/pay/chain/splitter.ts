import { keccak_256 } from '@noble/hashes/sha3.js'
import { type Hex, toHex } from '../../base/hex.ts'
import type { Atoms } from '../../base/money.ts'
import type { Address } from '../../interface/signer.ts'
import { splitterFactoryCode } from '../contracts/contracts.generated.ts'

/**
 * The deterministic deployer, at the same address on every chain. The address of a contract that it creates depends only on salt
 * and code. (github.com/Arachnid/deterministic-deployment-proxy)
 */
export const CREATE2_DEPLOYER: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

/** The treasury's share in basis points, as in `SplitterFactory.sol`. */
const BPS = 500
const ZERO_SALT = new Uint8Array(32)

/** The treasury's part of an amount, as a splitter divides it. */
export const treasuryPart = (amount: Atoms): Atoms => (amount * BigInt(BPS)) / 10_000n

/** The contracts that divide one network's money, by address. They may not exist yet. */
export interface SplitterFactory {
  readonly address: Address
  readonly treasury: Address
  /** The code that all splitters run. */
  readonly template: Address
  /** Deploys the factory. */
  readonly initCode: Uint8Array
  /** The splitter that receives the money of a provider's calls. */
  splitterOf(payout: Address): Address
}

/**
 * Computes the addresses as the chain does (EIP-1014, EIP-1167 with immutable arguments), without I/O.
 *
 * @example
 * ```ts
 * import { splitterFactory } from 'souk/pay'
 *
 * const { splitterOf } = splitterFactory('0x7472656173757279000000000000000000000001')
 * console.log(splitterOf('0x7e5f4552091a69125d5dfcb7b8c2659029395bdf')) // 0xc2d33491d1190787388ef981796989ff4185a21c
 * ```
 */
export function splitterFactory(treasury: Address): SplitterFactory {
  const initCode = bytes(splitterFactoryCode, `0x${'00'.repeat(12)}`, treasury)
  const address = create2(CREATE2_DEPLOYER, initCode)
  // The factory's constructor creates the template as its first contract: RLP of [factory, 1].
  const template = lastTwenty(bytes('0xd694', address, '0x01'))
  const bps: Hex = `0x${BPS.toString(16).padStart(4, '0')}`
  return {
    address,
    treasury,
    template,
    initCode,
    splitterOf(payout) {
      const args = bytes(payout, treasury, bps)
      const codeBytes: Hex = `0x${(args.length + 45).toString(16).padStart(4, '0')}`
      const clone = bytes(
        '0x61',
        codeBytes,
        '0x3d81600a3d39f3363d3d373d3d3d363d73',
        template,
        '0x5af43d82803e903d91602b57fd5bf3'
      )
      return create2(address, Buffer.concat([clone, args]))
    }
  }
}

function create2(deployer: Address, initCode: Uint8Array): Address {
  return lastTwenty(Buffer.concat([bytes('0xff', deployer), ZERO_SALT, keccak_256(initCode)]))
}

function lastTwenty(preimage: Uint8Array): Address {
  return toHex(keccak_256(preimage).subarray(-20))
}

function bytes(...parts: readonly Hex[]): Uint8Array {
  return Buffer.from(parts.map((part) => part.slice(2)).join(''), 'hex')
}
