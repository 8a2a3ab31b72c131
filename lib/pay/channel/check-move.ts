import { SoukError } from '../../base/errors.ts'
import { CHANNEL_MOVES, type ChannelPhase } from '../../interface/channel.ts'

/** @throws SoukError `internal_error` for a move that `CHANNEL_MOVES` does not have */
export function checkMove(from: ChannelPhase, to: ChannelPhase): void {
  const allowed: readonly ChannelPhase[] = CHANNEL_MOVES[from]
  if (!allowed.includes(to)) throw new SoukError('internal_error', `A channel cannot change from "${from}" to "${to}".`)
}
