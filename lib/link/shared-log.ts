import type { Logger } from '@libp2p/interface'

/** The part of libp2p's muxers that names the logs of their streams. */
interface Logging {
  readonly log: Logger
}

/**
 * Makes the streams of a connection use its log while that is off. A logger of its own for each stream, and for each step of its selection,
 * takes a third of the time to open one: `@libp2p/logger` asks the system whether stderr is a terminal.
 */
export function shareLog(muxer: object): void {
  if (!isLogging(muxer)) return
  const { log } = muxer
  const newScope = log.newScope.bind(log)
  log.newScope = (name) => (log.enabled ? newScope(name) : log)
}

function isLogging(muxer: object): muxer is Logging {
  return 'log' in muxer && typeof muxer.log === 'function' && 'newScope' in muxer.log
}
