import { limits } from '../../lib/index.ts'
import { KEY_PREFIXES, type KeyKind, sealKey } from './format.ts'
import type { DemoKey } from './keys.ts'
import { checkScope } from './scope.ts'

/** It is no secret, and says so. */
const SECRET = 'SharedPublicDemoKeyForEverybody0'
/** Nothing like it is ever issued: ids of keys are hexadecimal. */
const ID = 'key_demo'

/**
 * The key that everybody has, the same on every node, for the APIs that an operator gives away a little of: `apis` as `checkScope` takes
 * them. Its calls are paid by the operator, up to a tiny daily cap.
 * @throws SoukError `invalid_request`
 */
export function demoKey(kind: KeyKind, apis: readonly string[]): DemoKey {
  return {
    key: sealKey(kind, SECRET),
    holder: {
      id: ID,
      keyId: ID,
      label: 'public demo',
      hint: `${KEY_PREFIXES[kind]}${SECRET.slice(0, 16)}…`,
      maxPrice: limits.DEMO_PRICE_ATOMS_MAX,
      dailyCap: limits.DEMO_DAILY_ATOMS_MAX,
      apis: checkScope(apis),
      isPublic: true
    }
  }
}
