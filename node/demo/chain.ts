import { startDevChain } from './chain/dev-chain.ts'
import { runAlone } from './demo-server.ts'

/** Runs the dev chain as its own process. */
if (import.meta.main) await runAlone(startDevChain)
