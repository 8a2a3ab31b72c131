import { startOnFreePort } from '../http/listen.ts'
import { type Child, startChild } from './child.ts'

const HOST = '127.0.0.1'
/** Not the port of `souk dev`, so that both can run. */
const CHAIN_PORT = 8546

/**
 * Starts the demo's chain as its own process, on `CHAIN_PORT` or the next free port.
 * @throws SetupError as `startChild` and `startOnFreePort`
 */
export function startChain(stateFile: string, env: NodeJS.ProcessEnv): Promise<Child> {
  return startOnFreePort({ host: HOST, port: CHAIN_PORT }, (port) => {
    const args = ['--port', String(port), '--state', stateFile]
    return startChild({ name: 'chain', module: './chain', args, env })
  })
}
