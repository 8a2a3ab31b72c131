import { startDevChain } from './chain/dev-chain.ts'
import { runAlone } from './demo-server.ts'

/** The dev chain as a process of its own, beside the other servers of the demo. */
if (import.meta.main) await runAlone(startDevChain)
