import type { answerAgent, serveAgent } from './endpoint.ts'
import type { Market, MarketInit } from './market.ts'

/** What responds to agents. */
export interface AgentService {
  readonly market: Market
  readonly serveAgent: typeof serveAgent
  readonly answerAgent: typeof answerAgent
}

/** Loads it when the first agent comes: the library of the protocol takes several megabytes, and most nodes serve no agents. */
export function agentService(init: MarketInit): () => Promise<AgentService> {
  let loaded: Promise<AgentService> | undefined
  return () => (loaded ??= load(init))
}

async function load(init: MarketInit): Promise<AgentService> {
  const [{ answerAgent, serveAgent }, { Market }] = await Promise.all([import('./endpoint.ts'), import('./market.ts')])
  return { market: new Market(init), serveAgent, answerAgent }
}
