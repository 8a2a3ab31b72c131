import { readSecret } from '../options/auth-file.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { decimal } from '../options/number-option.ts'
import { UsageError } from '../terminal/usage-error.ts'

interface McpFlags {
  readonly api: readonly string[]
  readonly ingress?: string
  readonly keyFile?: string
  readonly maxPrice?: string
}

export const addMcp: AddCommand = (to, cli) => {
  to.command('mcp')
    .description('APIs as tools of an agent on this machine: the Model Context Protocol on stdin and stdout')
    .option('--api <name>', 'its operations become tools; again for more', (name, all: string[]) => [...all, name], [])
    .option('--ingress <url>', 'of any node (default: the node of this profile, which pays itself)')
    .option('--key-file <file>', 'with the consumer key for that ingress')
    .option('--max-price <usdc>', 'refuse dearer calls (default: 0.05); with a key, that says it', decimal)
    .action(async (flags: McpFlags) => {
      const stopped = cli.terminal.stopped()
      const [{ RemoteTools }, { serveStdioAgent }, post] = await Promise.all([
        import('../../mcp/remote-tools.ts'),
        import('../../mcp/stdio.ts'),
        postTo(cli, flags)
      ])
      // Nothing but messages may reach stdout from here on.
      await serveStdioAgent(cli.terminal, new RemoteTools(post), stopped)
    })
}

type Post = (body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>

async function postTo(cli: Cli, { api: apis, ingress, keyFile, maxPrice }: McpFlags): Promise<Post> {
  const query = new URLSearchParams(apis.map((name) => ['api', name]))
  if (keyFile === undefined && ingress === undefined) {
    if (maxPrice !== undefined) query.set('max_price', maxPrice)
    const node = await cli.node()
    // Says at once where no node runs: later, nobody would see it.
    await node.request('GET /status')
    return (body, headers, signal) => node.mcp(query.toString(), body, headers, signal)
  }
  if (keyFile === undefined) throw new UsageError('An ingress wants a key.', '--key-file with the file that holds it')
  if (maxPrice !== undefined) throw new UsageError('What a call may cost, a key says.', 'souk key issue --max-price')
  const url = ingress ?? (await (await cli.node()).request('GET /status')).ingress
  if (url === null || !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new UsageError('This is no URL of an ingress.', '--ingress http://127.0.0.1:8402')
  }
  const key = await readKey(keyFile)
  const endpoint = new URL('/mcp', url)
  endpoint.search = query.toString()
  return async (body, headers, signal) => {
    try {
      return await fetch(endpoint, { method: 'POST', body, headers: { ...headers, 'x-consumer-key': key }, signal })
    } catch (cause) {
      throw new Error(`No ingress answers at ${endpoint.origin}.`, { cause })
    }
  }
}

/** @throws UsageError, with nothing of what is in the file */
async function readKey(path: string): Promise<string> {
  const key = (await readSecret(path)).trim()
  if (!/^[!-~]+$/.test(key)) throw new UsageError(`${path} holds no consumer key.`)
  return key
}
