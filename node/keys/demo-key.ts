import { limits } from '../../lib/index.ts'
import { KEY_PREFIXES, type KeyKind, sealKey } from './format.ts'
import type { DemoKey } from './keys.ts'
import { checkScope } from './scope.ts'

/** Public on purpose; the text says so. */
const SECRET = 'SharedPublicDemoKeyForEverybody0'
/** Never collides with an issued key: their ids are hexadecimal. */
const ID = 'key_demo'

/**
 * The public demo key, the same on every node. It calls the APIs in `apis` (format of `checkScope`) at the operator’s expense, up to a
 * small daily cap.
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
