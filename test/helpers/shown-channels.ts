import type { ChannelId } from '../../lib/interface/channel.ts'
import type { ChannelSnapshot, ChannelWatch } from '../../lib/interface/redeem.ts'

/** A watch that shows each channel as `snapshot` returns it, and tells of it when `look` is called. */
export function shownChannels(
  snapshot: () => ChannelSnapshot | undefined
): ChannelWatch & { look(id: ChannelId): void } {
  let listener: (ids: readonly ChannelId[]) => void = () => {}
  return {
    look: (id) => listener([id]),
    snapshot,
    age: () => 0,
    refresh: async () => {},
    onLook(added) {
      listener = added
      return () => {}
    },
    start: async () => {},
    stop: () => {}
  }
}
