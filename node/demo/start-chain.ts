import { freePort } from '../http/listen.ts'
import { type Child, startChild } from './child.ts'

const HOST = '127.0.0.1'
/** Not the port of `souk dev`, so that both can run. */
const CHAIN_PORT = 8546

/**
 * Starts the demo's chain as its own process, on `CHAIN_PORT` or the next free port. Another program may take that port before the chain
 * does, such as a demo that starts at the same time. Then the chain gets another one.
 * @throws SetupError as `startChild` and `freePort`
 */
export async function startChain(stateFile: string, env: NodeJS.ProcessEnv): Promise<Child> {
  const port = await freePort({ host: HOST, port: CHAIN_PORT })
  try {
    const args = ['--port', String(port), '--state', stateFile]
    return await startChild({ name: 'chain', module: './chain', args, env })
  } catch (error) {
    if ((await freePort({ host: HOST, port })) === port) throw error
    return startChain(stateFile, env)
  }
}
