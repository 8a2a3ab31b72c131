import { readSecret } from '../options/auth-file.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { checkApi } from '../options/check-typed.ts'
import { decimal } from '../options/number-option.ts'
import { UsageError } from '../terminal/usage-error.ts'

interface McpFlags {
  readonly api: readonly string[]
  readonly operation: readonly string[]
  readonly ingress?: string
  readonly keyFile?: string
  readonly maxPrice?: string
  readonly dailyCap?: string
}

export const addMcp: AddCommand = (to, cli) => {
  to.command('mcp')
    .description('offer APIs as tools to an agent on this machine, by the Model Context Protocol on stdin and stdout')
    .option(
      '--api <name>',
      'API whose operations become tools; may be repeated',
      (name, all: string[]) => [...all, name],
      []
    )
    .option(
      '--operation <pattern>',
      'only operations with this name, such as "get*"; may be repeated',
      (name, all: string[]) => [...all, name],
      []
    )
    .option('--ingress <url>', 'ingress of any node (default: the node of this profile, which then pays)')
    .option('--key-file <file>', 'file with the consumer key for that ingress')
    .option(
      '--max-price <usdc>',
      'refuse more expensive calls (default: 0.05); not with --key-file, because the key has its own limit',
      decimal
    )
    .option(
      '--daily-cap <usdc>',
      'refuse calls past this cost in one day (UTC), of all agents with this option; not with --key-file (default: none)',
      decimal
    )
    .action(async (flags: McpFlags) => {
      for (const api of flags.api) await checkApi(api)
      const stopped = cli.terminal.stopped()
      const [{ RemoteAgent }, { serveStdioAgent }, post] = await Promise.all([
        import('../../mcp/remote-agent.ts'),
        import('../../mcp/stdio.ts'),
        postTo(cli, flags)
      ])
      // From here on, only protocol messages may go to stdout.
      await serveStdioAgent(cli.terminal, new RemoteAgent(post), stopped)
    })
}

type Post = (body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>

async function postTo(
  cli: Cli,
  { api: apis, operation: patterns, ingress, keyFile, maxPrice, dailyCap }: McpFlags
): Promise<Post> {
  const named = (name: string, all: readonly string[]) => all.map((each) => [name, each])
  const query = new URLSearchParams([...named('api', apis), ...named('operation', patterns)])
  if (keyFile === undefined && ingress === undefined) {
    if (maxPrice !== undefined) query.set('max_price', maxPrice)
    if (dailyCap !== undefined) query.set('daily_cap', dailyCap)
    const node = await cli.node()
    // Fail at once if no node runs. Later the agent would hide the error.
    await node.request('GET /status')
    return (body, headers, signal) => node.mcp(query.toString(), body, headers, signal)
  }
  if (keyFile === undefined)
    throw new UsageError('An ingress requires a consumer key.', '--key-file <file with the key>')
  for (const [option, given] of [
    ['--max-price', maxPrice],
    ['--daily-cap', dailyCap]
  ] as const) {
    if (given === undefined) continue
    throw new UsageError(
      `${option} does not work with --key-file: the key has its own limit.`,
      `souk key issue ${option}`
    )
  }
  const url = ingress ?? (await (await cli.node()).request('GET /status')).ingress
  if (url === null || !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new UsageError('The URL of the ingress is not valid.', '--ingress http://127.0.0.1:8402')
  }
  const key = await readKey(keyFile)
  const endpoint = new URL('/mcp', url)
  endpoint.search = query.toString()
  const { postToIngress } = await import('../../mcp/post-to-ingress.ts')
  return (body, headers, signal) =>
    postToIngress(endpoint, { body, headers: { ...headers, 'x-consumer-key': key }, signal })
}

/** @throws UsageError, without the contents of the file */
async function readKey(path: string): Promise<string> {
  const key = (await readSecret(path)).trim()
  if (!/^[!-~]+$/.test(key)) throw new UsageError(`${path} does not contain a consumer key.`)
  return key
}
