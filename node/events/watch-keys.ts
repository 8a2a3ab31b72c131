import type { KeyInfo, Keys } from '../keys/keys.ts'
import type { Events } from './events.ts'

/** Wraps keys, so that each change publishes an event. */
export function watchedKeys(keys: Keys, events: Pick<Events, 'emit'>): Keys {
  const about = ({ id, label, hint }: KeyInfo) => ({ key: id, label, hint })
  return {
    ...keys,
    async issue(init) {
      const issued = await keys.issue(init)
      await events.emit('key.issued', about(issued))
      return issued
    },
    async rotate(id, init) {
      const before = await keys.get(id)
      const issued = await keys.rotate(id, init)
      await events.emit('key.rotated', { ...about(before), successor: issued.id })
      return issued
    },
    async disable(id) {
      const key = await keys.disable(id)
      await events.emit('key.disabled', about(key))
      return key
    },
    async enable(id) {
      const key = await keys.enable(id)
      await events.emit('key.enabled', about(key))
      return key
    },
    async revoke(id) {
      const key = await keys.revoke(id)
      await events.emit('key.revoked', about(key))
      return key
    }
  }
}
